import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../../server/test/support/store/postgres.ts'
import { loginToken } from '../accounts-store.ts'
import { fillUniversity } from './store.ts'
import { timed } from '../figures.ts'
import { allQueries } from './queries.ts'
import { BenchLifetime } from '../lifetime.ts'
import { numberOption, textOption } from '../options.ts'
import { startService, type ServiceProcess } from '../service-process.ts'

/**
 * The cost of the administration lists with 100,000 users in 1,000 groups and 100,000 containers: the first page of 100
 * rows with each filter and each order, the counts, the page of a group, and sums of use. `npm run bench:admin`, `--
 * --only=containers`, `-- --rounds=10`, `-- --people=10000`, `-- --days=3` of use, `-- --sqlite` for one store only. Each
 * query runs alone, over HTTP, as from the front end.
 */
const only = (textOption('only') ?? '').split(',')
const [people, rounds, days] = [numberOption('people', 100_000), numberOption('rounds', 40), numberOption('days', 30)]
const stores = process.argv.includes('--sqlite') ? ['SQLite'] : ['SQLite', 'PostgreSQL']

const queries = allQueries().filter((query) => only.some((part) => query.includes(part)))

interface Figures {
  /** In ms. */
  readonly p50: number
  readonly p95: number
  /** Of the service, per request, in ms. */
  readonly cpu: number
  /** Of the first request, which may read what the next ones keep, in ms. */
  readonly first: number
}

await using lifetime = new BenchLifetime()
const columns = new Map<string, Map<string, Figures>>()
for (const store of stores) columns.set(store, await measure(store))
show(columns)

async function measure(store: string): Promise<Map<string, Figures>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-bench-'))
  lifetime.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const postgres = store === 'SQLite' ? undefined : await startPostgres()
  if (postgres) lifetime.after(() => postgres.stop())
  const filled = await timed(() => fillUniversity(postgres?.url ?? null, dataDir, people, days))
  const program = path.join(import.meta.dirname, 'service.ts')
  const started = await timed(() => startService(program, [dataDir, postgres?.url ?? '']))
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  process.stdout.write(
    `${store}: ${people} people, filled in ${seconds(filled.ms)}, started in ${seconds(started.ms)}\n`,
  )
  const service = started.value
  const figures = new Map<string, Figures>()
  try {
    const ask = await signedIn(service.port)
    await atRest(service)
    for (const query of queries) {
      const figure = await timesOf(() => ask(query), service)
      figures.set(query, figure)
      process.stderr.write(`${store}  ${cell(figure).padEnd(24)} first ${figure.first.toFixed(0).padEnd(6)} ${query}\n`)
    }
  } finally {
    await service.stop()
  }
  return figures
}

async function signedIn(port: number): Promise<(query: string) => Promise<void>> {
  const url = `http://127.0.0.1:${port}/api`
  const signedIn = await fetch(`${url}/auth/verify-login?token=${loginToken(0)}`)
  const { access_token: token } = (await signedIn.json()) as { access_token: string }
  return async (query) => {
    const answer = await fetch(`${url}/${query.startsWith('groups/') ? '' : 'admin/'}${query}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${query} answered ${answer.status}: ${text}`)
  }
}

async function timesOf(ask: () => Promise<void>, service: ServiceProcess): Promise<Figures> {
  const first = (await timed(ask)).ms
  for (let warmUp = 0; warmUp < 2; warmUp++) await ask()
  const times: number[] = []
  const before = await service.cpu()
  for (let round = 0; round < rounds; round++) times.push((await timed(ask)).ms)
  const cpu = ((await service.cpu()) - before) / rounds
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  return { p50: at(0.5), p95: at(0.95), cpu, first }
}

/** After its start it inspects each container; resolves when its CPU is nearly idle, or after a minute. */
async function atRest(service: ServiceProcess): Promise<void> {
  for (let seconds = 0; seconds < 60; seconds++) {
    const before = await service.cpu()
    await sleep(1_000)
    if ((await service.cpu()) - before < 100) return
  }
}

/** A table for docs/explanation/performance.md. */
function show(columns: ReadonlyMap<string, ReadonlyMap<string, Figures>>): void {
  const heads = [...columns.keys()].map((store) => `${store}: p50, p95, CPU of Berth |`)
  process.stdout.write(`\n| query | ${heads.join(' ')}\n|---|${'---|'.repeat(columns.size)}\n`)
  for (const query of queries) {
    const cells = [...columns.values()].map((figures) => cell(figures.get(query)))
    process.stdout.write(`| \`${query}\` | ${cells.join(' | ')} |\n`)
  }
  process.stdout.write(`\nms; ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)
}

function cell(figures: Figures | undefined): string {
  return figures ? [figures.p50, figures.p95, figures.cpu].map((ms) => ms.toFixed(1)).join(', ') : ''
}
