import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { installationName, openDatabase } from '../server/src/store/database.ts'
import { signedBy } from '../server/test/support/command-line.ts'
import { startPostgres } from '../server/test/support/store/postgres.ts'
import { fillStore } from './accounts-store.ts'
import { milliseconds, report, timed } from './figures.ts'
import { numberOption, textOption } from './options.ts'
import { startService as start, type ServiceProcess } from './service-process.ts'

/**
 * A backup of a store with 100,000 users and as many links (which are deleted when they expire) while requests run, and a
 * drill: restore onto an empty place, start, first answer. `npm run bench:backup`, `-- --links=1000000`, `-- --only=SQLite`. Without
 * homes: what they take is the speed of the disks. Ends with code 1 when a goal is missed.
 */
const crowd = { people: numberOption('people', 100_000), links: numberOption('links', 100_000) }
/** Goals of the backup and of the slowest request beside it, in ms, and of the drill, in ms. */
const goals = { backup: 10_000, request: 100, drill: 300_000 }
/** Between two requests, in ms. */
const pause = 10

const berth = path.resolve(import.meta.dirname, '../cli/src/main.ts')

for (const kind of ['SQLite', 'PostgreSQL'].filter((name) => name.includes(textOption('only') ?? '')))
  await measure(kind)

async function measure(kind: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-bench-backup-'))
  const servers = kind === 'SQLite' ? [] : [await startPostgres(), await startPostgres()]
  const [url, freshUrl] = servers.map((server) => server.url)
  try {
    const [data, fresh, backups] = ['data', 'fresh', 'backups'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ]
    await fillStore(url ?? null, data, crowd)
    await nameInstallation(url ?? null, data)
    const service = await startService(data, url)
    const without = await requestsDuring(service.port, () => sleep(5_000))
    const made = await requestsDuring(service.port, () => runBerth(data, url, 'backup', backups, '--no-homes'))
    await service.stop()
    const [name = ''] = readdirSync(backups)
    const drill = await timed(async () => {
      await runBerth(fresh, freshUrl, 'restore', path.join(backups, name), '--no-homes', ...(await signedBy(data)))
      const restored = await startService(fresh, freshUrl)
      const answer = await fetch(`http://127.0.0.1:${restored.port}/api/.well-known/jwks.json`)
      if (!answer.ok) throw new Error(`the restored service answered ${answer.status}`)
      return restored
    })
    await drill.value.stop()
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
    report(`${kind}, ${crowd.people} users, ${crowd.links} links`, {
      'backup (under 10 s)': seconds(made.ms),
      'slowest request meanwhile (at most 100 ms)': `${milliseconds(made.slowest)}, of ${made.count}`,
      'slowest request in 5 s without a backup': `${milliseconds(without.slowest)}, of ${without.count}`,
      'drill: restore, start, first answer (under 5 min)': seconds(drill.ms),
    })
    if (made.ms >= goals.backup || made.slowest > goals.request || drill.ms >= goals.drill) process.exitCode = 1
  } finally {
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A service without an engine has no name, and a store without one is no installation. */
async function nameInstallation(url: string | null, dataDir: string): Promise<void> {
  const { db, close } = await openDatabase(url, dataDir)
  await installationName(db, () => 'berth-bench')
  await close()
}

const startService = (dataDir: string, url: string | undefined): Promise<ServiceProcess> =>
  start(path.join(import.meta.dirname, 'accounts-service.ts'), [dataDir, url ?? ''])

async function runBerth(dataDir: string, url: string | undefined, ...args: string[]): Promise<void> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, ...(url === undefined ? {} : { DATABASE_URL: url }) }
  await promisify(execFile)(process.execPath, [berth, ...args], { env })
}

/** Reads and writes of the service, one after the other, until the work is done. */
async function requestsDuring(
  port: number,
  work: () => Promise<unknown>,
): Promise<{ ms: number; slowest: number; count: number }> {
  const end = new AbortController()
  let [slowest, count] = [0, 0]
  const asking = (async () => {
    for (; !end.signal.aborted; count++) {
      const { ms } = await timed(() => request(port, count))
      slowest = Math.max(slowest, ms)
      await sleep(pause)
    }
  })()
  const { ms } = await timed(work)
  end.abort()
  await asking
  return { ms, slowest, count }
}

/** Every second one stores something. */
async function request(port: number, number: number): Promise<void> {
  const origin = `http://127.0.0.1:${port}`
  const body = JSON.stringify({ email: `backup${number}@bench.test` })
  const answer =
    number % 2 === 0
      ? await fetch(`${origin}/api/auth/signup`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
        })
      : await fetch(`${origin}/api/.well-known/jwks.json`)
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`a request was answered with ${answer.status}`)
}
