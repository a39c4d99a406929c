import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from '../free-port.ts'
import { waitLimit } from '../extent.ts'
import { prepareCluster, type Postgres } from './postgres.ts'

const program = '/usr/sbin/pgbouncer'

/** Options of a test that needs PgBouncer. */
export const withPgBouncer = {
  skip: !existsSync(program) && 'PgBouncer is not installed (apt-get install pgbouncer)',
}

export interface PgBouncer {
  readonly url: string
  /** Another setting from now on, as an administrator's `SET`. */
  set(name: string, value: string): Promise<void>
  stop(): Promise<void>
}

/** Settings of `pgbouncer.ini` that differ from PgBouncer's defaults. */
export type PoolerSettings = Readonly<Record<string, string | number>>

/** A PgBouncer of our own in front of a server of `startPostgres`. @throws when it does not start */
export async function startPgBouncer(postgres: Postgres, settings: PoolerSettings): Promise<PgBouncer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-pgbouncer-'))
  const { identity } = await prepareCluster()
  const server = new URL(postgres.url)
  const port = await freePort()
  const users = path.join(folder, 'users')
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
    admin_users: 'berth',
    ...settings,
  }
  const file = path.join(folder, 'pgbouncer.ini')
  const databases = `[databases]\n* = host=${server.hostname} port=${server.port}\n`
  const own = Object.entries(lines).map(([name, value]) => `${name} = ${value}\n`)
  writeFileSync(users, '"berth" ""\n')
  writeFileSync(file, `${databases}[pgbouncer]\n${own.join('')}`)
  if (identity) for (const each of [folder, users, file]) chownSync(each, identity.uid, identity.gid)
  const child = spawn(program, ['-q', file], { ...identity, cwd: folder, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const console = `postgres://berth@127.0.0.1:${port}/pgbouncer`
  const query = 'client_tls_sslmode' in settings ? '?sslmode=no-verify' : ''
  const order = async (statement: string) => {
    const client = new Client({ connectionString: console + query })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  for (const end = Date.now() + waitLimit(10_000); ; await sleep(50)) {
    const isUp = await order('show version').then(
      () => true,
      () => false,
    )
    if (isUp) break
    if (Date.now() > end || child.exitCode !== null) {
      child.kill('SIGKILL')
      throw new Error('PgBouncer does not answer')
    }
  }
  return {
    url: `postgres://berth@127.0.0.1:${port}/postgres`,
    set: (name, value) => order(`set ${name} = '${value}'`),
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
