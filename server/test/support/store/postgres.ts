import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'
import { childrenOf } from '../child-processes.ts'
import { waitLimit } from '../extent.ts'

const run = promisify(execFile)

/** Where this repository keeps what it makes for itself. */
const berthFolder = path.resolve(import.meta.dirname, '../../../../.berth')

/** How long a server may take to start, in ms. */
const timeout = waitLimit(30_000)

export interface Postgres {
  readonly url: string
  /** Ends it at once; what was stored stays. */
  shutDown(): Promise<void>
  /** Starts it again. */
  startAgain(): Promise<void>
  /** Its processes stand still: connections stay open, and nothing answers any more. */
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

/**
 * A PostgreSQL server of our own in a temporary folder, on the loopback address only.
 * @param host another address of this machine, where all that reach it are let in
 * It refuses to run as root, so root starts it as Debian's `postgres` (or `nobody`).
 * @throws when PostgreSQL is not installed
 */
export async function startPostgres(host?: string): Promise<Postgres> {
  const { bin, identity, folder } = await prepareCluster()
  const data = mkdtempSync(path.join(tmpdir(), 'berth-postgres-'))
  await run('cp', ['-a', `${folder}/.`, data])
  let port = await freePort()
  const addresses = ['127.0.0.1', ...(host === undefined ? [] : [host])].join()
  if (host !== undefined) appendFileSync(path.join(data, 'pg_hba.conf'), 'host all all all trust\n')
  const options = ['-D', data, '-k', data, '-c', `listen_addresses=${addresses}`, '-c', 'fsync=off']
  const start = async () => {
    const args = [...options, '-p', String(port)]
    const started = spawn(path.join(bin, 'postgres'), args, { ...identity, cwd: data, stdio: 'ignore' })
    await accepts(port, started, data)
    return started
  }
  let server = await start().catch(async (error: unknown) => {
    // Another process may have taken the port between the two.
    if (!(error instanceof ServerEnded)) throw error
    port = await freePort()
    return start()
  })
  const shutDown = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGQUIT')
    await ended
  }
  const tell = (signal: NodeJS.Signals) => {
    for (const pid of [server.pid, ...childrenOf(server.pid)]) if (pid) process.kill(pid, signal)
  }
  return {
    url: `postgres://berth@${host ?? '127.0.0.1'}:${port}/postgres`,
    shutDown,
    startAgain: async () => {
      server = await start()
    },
    freeze: () => tell('SIGSTOP'),
    thaw: () => tell('SIGCONT'),
    stop: async () => {
      await shutDown()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** What a server is started from. */
export interface PreparedCluster {
  /** Folder of the programs. */
  readonly bin: string
  /** Whom to run it as; undefined: as this process. */
  readonly identity: Identity | undefined
  /** Data of an empty server, to be copied. */
  readonly folder: string
}

/** @throws when PostgreSQL is not installed */
export async function prepareCluster(): Promise<PreparedCluster> {
  const [bin, identity] = [findBinaries(), await unprivileged()]
  return { bin, identity, folder: await emptyCluster(bin, identity) }
}

/** A folder that `initdb` made, which takes a second of CPU: made once for each version, and copied for each server. */
async function emptyCluster(bin: string, identity: Identity | undefined): Promise<string> {
  const name = [...bin.split(path.sep).filter(Boolean), identity?.uid ?? 'own'].join('-')
  const cluster = path.join(berthFolder, `postgres-${name}`)
  if (existsSync(cluster)) return cluster
  const fresh = mkdtempSync(path.join(tmpdir(), 'berth-initdb-'))
  if (identity) chownSync(fresh, identity.uid, identity.gid)
  const options = ['-D', fresh, '-U', 'berth', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  await run(path.join(bin, 'initdb'), options, { ...identity, cwd: fresh })
  const copy = `${cluster}-${process.pid}`
  await run('cp', ['-a', fresh, copy])
  // Another test may have been quicker.
  await rename(copy, cluster).catch(() => rm(copy, { recursive: true }))
  await rm(fresh, { recursive: true })
  return cluster
}

interface Identity {
  readonly uid: number
  readonly gid: number
}

function findBinaries(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => path.join(debian, version, 'bin')) : []
  const found = [...versions, ...(process.env.PATH ?? '').split(':')].find((folder) =>
    existsSync(path.join(folder, 'initdb')),
  )
  if (!found) throw new Error('PostgreSQL is not installed; npm test installs it, or: apt-get install postgresql')
  return found
}

async function unprivileged(): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const user = await run('id', ['-u', 'postgres']).then(
    () => 'postgres',
    () => 'nobody',
  )
  const idOf = async (flag: string) => Number((await run('id', [flag, user])).stdout)
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}

class ServerEnded extends Error {}

/** @param data folder of the server: another one, whose port it is, may answer first @throws {ServerEnded} */
async function accepts(port: number, server: ChildProcess, data: string): Promise<void> {
  const { default: pg } = await import('pg')
  for (const started = Date.now(); Date.now() - started < timeout; await sleep(100)) {
    if (server.exitCode !== null) throw new ServerEnded(`PostgreSQL ended with ${server.exitCode}`)
    const client = new pg.Client({
      connectionString: `postgres://berth@127.0.0.1:${port}/postgres`,
      connectionTimeoutMillis: 1_000,
    })
    try {
      await client.connect()
      const { rows } = await client.query<{ data_directory: string }>('show data_directory')
      await client.end()
      if (rows[0]?.data_directory === data) return
    } catch {
      // Not yet.
    }
  }
  throw new Error(`PostgreSQL did not accept connections within ${timeout} ms`)
}
