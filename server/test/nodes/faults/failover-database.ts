import { execFile, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client, type QueryResultRow } from 'pg'
import type { Lifetime } from '../../support/berth.ts'
import { prepareCluster, type PreparedCluster } from '../../support/store/postgres.ts'
import type { Machines } from './machines.ts'
import type { NodeMachine } from './node-machine.ts'

/** A PostgreSQL server with a standby that has all that was committed, behind an address that moves to it. */
export interface FailoverDatabase {
  readonly url: string
  /** Of both servers, and the one that moves. */
  readonly addresses: readonly string[]
  query<T extends QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>
  /** Ends it in good order, and starts it again. @param away ms in between */
  restart(away: number): Promise<void>
  /** The machine of the primary is gone; after a while the standby takes over, and a new standby is made. @param detection in ms */
  failOver(detection: number): Promise<void>
  /**
   * The primary is cut from its standby and from one machine, and runs on; after a while the standby takes over, for that machine.
   * Another machine is led to the primary of before by its address, as by a stale entry of DNS.
   * @param detection in ms
   */
  split(machines: { readonly cut: Machine; readonly stale: Machine }, detection: number): Promise<Split>
}

type Machine = Pick<NodeMachine, 'name' | 'address'>

/** Two primaries at one address. */
export interface Split {
  /** Since when nothing of the leader reaches the primary of before, by `performance.now()`. */
  readonly cutAt: number
  /** Ends the primary of before, and makes it the standby. @throws when the other machine was not connected to it */
  end(): Promise<void>
}

const connectionsFrom = `select 1 from pg_stat_activity where client_addr = $1::inet and backend_type = 'client backend'`
const [names, port, timeout] = [['pg1', 'pg2'] as const, 5432, 30_000]
type Name = (typeof names)[number]

interface Server {
  readonly name: Name
  readonly address: string
  readonly data: string
  process: ChildProcess | undefined
}

/** Two machines, `pg1` and `pg2`. The standby is synchronous: what a failover could lose is nothing that was answered. */
export async function startFailoverDatabase(lifetime: Lifetime, machines: Machines): Promise<FailoverDatabase> {
  const prepared = await prepareCluster()
  const moving = machines.address(20)
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-failover-'))
  if (prepared.identity) chownSync(folder, prepared.identity.uid, prepared.identity.gid)
  const servers: Server[] = []
  for (const [index, name] of names.entries())
    servers.push({
      name,
      address: await machines.add(name, 21 + index),
      data: path.join(folder, name),
      process: undefined,
    })
  let [primary, standby] = servers as [Server, Server]
  lifetime.after(async () => {
    for (const each of servers) await kill(each)
    rmSync(folder, { recursive: true, force: true })
  })
  const cluster = new Cluster(prepared, machines)
  await cluster.initialize(primary)
  await cluster.start(primary)
  await machines.take(primary.name, moving)
  await cluster.follow(standby, primary)
  const url = `postgres://berth@${moving}:${port}/postgres`
  /** @returns the primary of before */
  const takeOver = async () => {
    await cluster.promote(standby)
    await machines.take(standby.name, moving)
    const lost = primary
    ;[primary, standby] = [standby, primary]
    return lost
  }
  const leaveAddress = ({ name }: Server) => machines.run(name, 'ip', 'address', 'del', `${moving}/24`, 'dev', 'eth0')
  const followAnew = async (lost: Server) => {
    rmSync(lost.data, { recursive: true, force: true })
    await cluster.follow(lost, primary)
  }
  return {
    url,
    addresses: [moving, ...servers.map(({ address }) => address)],
    query: (text, values) => ask(primary.address, text, values),
    restart: async (away) => {
      await cluster.stop(primary)
      await sleep(away)
      await cluster.start(primary)
    },
    failOver: async (detection) => {
      await machines.plug(primary.name, false)
      await sleep(detection)
      const lost = await takeOver()
      await kill(lost)
      // Its address is the other one's by now.
      await leaveAddress(lost)
      await machines.plug(lost.name, true)
      await followAnew(lost)
    },
    split: async ({ cut, stale }, detection) => {
      const unpins = [await machines.pin(stale.name, moving, primary.name)]
      await machines.deafen(primary.name, cut.address, standby.address)
      const cutAt = performance.now()
      unpins.push(await machines.pin(cut.name, moving, standby.name))
      await sleep(detection)
      const lost = await takeOver()
      const end = async () => {
        const connections = await ask(lost.address, connectionsFrom, [stale.address])
        await kill(lost)
        for (const unpin of unpins) await unpin()
        await leaveAddress(lost)
        await machines.heal(lost.name)
        await followAnew(lost)
        if (connections.length === 0) throw new Error(`${stale.name} was not led to the primary of before`)
      }
      return { cutAt, end }
    },
  }
}

class Cluster {
  readonly #prepared: PreparedCluster
  readonly #machines: Machines

  constructor(prepared: PreparedCluster, machines: Machines) {
    this.#prepared = prepared
    this.#machines = machines
  }

  async initialize({ data }: Server): Promise<void> {
    await promisify(execFile)('cp', ['-a', this.#prepared.folder, data])
    appendFileSync(path.join(data, 'pg_hba.conf'), 'host all all all trust\nhost replication all all trust\n')
  }

  async start(server: Server): Promise<void> {
    const { data, address } = server
    const words = [
      '-D',
      data,
      '-p',
      String(port),
      '-c',
      'unix_socket_directories=',
      '-c',
      'listen_addresses=*',
      '-c',
      'fsync=off',
    ]
    server.process = this.#machines.spawn(server.name, ...this.#asServer('postgres', words), {
      cwd: data,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    server.process.stderr?.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-2_000)))
    for (const until = performance.now() + timeout; ; await sleep(100)) {
      if (server.process.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.process.exitCode}: ${log}`)
      if (await ask(address, 'select 1').then(Boolean, () => false)) return
      if (performance.now() > until) throw new Error(`PostgreSQL at ${address} did not start`)
    }
  }

  /** In good order, as `pg_ctl stop` does by default: sessions are ended. */
  async stop({ process }: Server): Promise<void> {
    if (!process || process.exitCode !== null) return
    process.kill('SIGINT')
    await once(process, 'exit', { signal: AbortSignal.timeout(timeout) })
  }

  /** Makes a copy of the primary that follows it, and waits for it at each commit from then on. */
  async follow(server: Server, primary: Server): Promise<void> {
    const words = [
      '-h',
      primary.address,
      '-p',
      String(port),
      '-U',
      'berth',
      '-D',
      server.data,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
    ]
    await this.#machines.run(server.name, ...flat(this.#asServer('pg_basebackup', words)))
    // A standby that takes over has none itself at first.
    const settings = path.join(server.data, 'postgresql.auto.conf')
    const text = readFileSync(settings, 'utf8')
    writeFileSync(settings, text.replaceAll(/^synchronous_standby_names.*\n/gm, ''))
    await this.start(server)
    await ask(primary.address, `alter system set synchronous_standby_names = '*'`)
    await ask(primary.address, 'select pg_reload_conf()')
    const isSynchronous = async () =>
      (await ask(primary.address, `select 1 from pg_stat_replication where sync_state = 'sync'`)).length > 0
    for (const until = performance.now() + timeout; !(await isSynchronous()); await sleep(100))
      if (performance.now() > until) throw new Error('the standby does not follow')
  }

  async promote(server: Server): Promise<void> {
    await this.#machines.run(server.name, ...flat(this.#asServer('pg_ctl', ['promote', '-D', server.data])))
  }

  /** PostgreSQL refuses to run as root. */
  #asServer(program: string, words: readonly string[]): [string, string[]] {
    const { bin, identity } = this.#prepared
    const file = path.join(bin, program)
    if (!identity) return [file, [...words]]
    const { uid, gid } = identity
    return ['setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', file, ...words]]
  }
}

const flat = ([program, words]: [string, string[]]): [string, ...string[]] => [program, ...words]

async function ask<T extends QueryResultRow>(host: string, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new Client({
    connectionString: `postgres://berth@${host}:${port}/postgres`,
    connectionTimeoutMillis: 2_000,
    query_timeout: 5_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<T>(text, values)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function kill({ process: server }: Server): Promise<void> {
  if (!server || server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGKILL')
  await ended
}
