import { once } from 'node:events'
import { createServer, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../figures.ts'
import { head } from '../load/heads.ts'
import { loadCore, message, type Started } from '../process.ts'
import { startOurs, script, type Target } from '../proxies.ts'
import { makeCredentials } from '../credentials.ts'
import { busy, type Route } from '../routes.ts'
import { table, type Row } from '../table.ts'
import { tlsFiles } from '../tls-files.ts'
import { neighbourShapes } from './shapes.ts'
import type { NeighbourShape } from './shape.ts'
import type { StreamOrder } from './stream.ts'

/** How many times the latency beside large pieces that beside small ones may be. */
const goal = 3
const rounds = 3
/** A shape above the goal is measured again so often: a noisy machine says so once, a fault each time. */
const repetitions = 2
/** In ms: until a stream flows, and for how long GETs are measured beside it. */
const [settling, measuring] = [200, 500]
/** Max duration of a GET in ms; a slower one counts as this. */
const overdue = 10_000

/**
 * What the bytes of one person or visitor cost another: the latency of GETs by another person to another app, beside
 * four connections that carry a shape in small pieces, and beside the same bytes in large pieces.
 * @param parts of the names of the shapes to measure; undefined for all
 * @returns whether every shape meets the goal
 */
export async function runNeighbour(parts: readonly string[] | undefined): Promise<boolean> {
  const [noisy, quick] = busy as [Route, Route]
  const stream = script('neighbour/stream', loadCore, [noisy.host])
  const { port } = await message<{ port: number }>(stream)
  const app = createServer({ noDelay: true }, (socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')).on('error', () => {})
  })
  await once(app.listen(port, quick.host), 'listening')
  const credentials = await makeCredentials()
  const options = { routes: busy.length, access: 'public' } as const
  const plain = await startOurs(credentials, port, '', options)
  const encrypted = await startOurs(credentials, port, '', { ...options, tls: tlsFiles() })
  try {
    const bench: Bench = { stream, plain, encrypted, noisy, quick }
    const all = neighbourShapes(headsOf(bench, (text) => () => text))
    const shapes = all.filter(({ name }) => parts?.some((part) => name.includes(part)) ?? true)
    if (shapes.length === 0) throw new Error(`--shapes: there are ${all.map(({ name }) => name).join('; ')}`)
    const rows: NeighbourRow[] = []
    for (const shape of shapes) rows.push(await measureAgain(bench, shape))
    const sorted = rows.toSorted((a, b) => b.ratio - a.ratio)
    console.log(
      `\n${table(sorted)}\n\n${rows.length} shapes; the worst: ${sorted[0]?.title}, ${sorted[0]?.ratio.toFixed(2)}`,
    )
    return rows.every(({ isMet }) => isMet)
  } finally {
    app.close()
    await Promise.all([stream.end(), plain.end(), encrypted.end()])
  }
}

interface Bench {
  readonly stream: Started
  readonly plain: Target
  readonly encrypted: Target
  /** The route whose bytes are in small pieces, and that of the other person. */
  readonly noisy: Route
  readonly quick: Route
}

type NeighbourRow = Row & { readonly ratio: number; readonly isMet: boolean }

function headsOf<T>({ noisy, plain }: Bench, as: (text: string) => T): { readonly own: T; readonly open: T } {
  const own = head('GET /', noisy, plain.tokens).slice(0, -4)
  return { own: as(own), open: as(own.replace('spawner_token=', 'another=')) }
}

async function measureAgain(bench: Bench, shape: NeighbourShape): Promise<NeighbourRow> {
  let row = await measure(bench, shape)
  for (let time = 0; time < repetitions && !row.isMet; time++) {
    const again = await measure(bench, shape)
    if (again.ratio < row.ratio) row = again
  }
  console.log(`${row.title}: ${row.ours}, ${row.peer}, ${row.ratio.toFixed(2)}, ${row.note}`)
  return row
}

/** The middle of a few rounds, in each of which both kinds follow one another, and the order changes. */
async function measure(bench: Bench, shape: NeighbourShape): Promise<NeighbourRow> {
  const found = { small: [] as Beside[], large: [] as Beside[] }
  for (let round = 0; round < rounds; round++) {
    const kinds = round % 2 === 0 ? (['large', 'small'] as const) : (['small', 'large'] as const)
    for (const kind of kinds) found[kind].push(await latencyBeside(bench, shape, kind))
  }
  const ratio = median(found.small.map(({ ms }, at) => ms / (found.large[at]?.ms ?? Number.NaN)))
  return {
    title: shape.name,
    ours: showLatency(found.small),
    peer: showLatency(found.large),
    ratio,
    goal: `at most ${goal}`,
    isMet: ratio <= goal,
    note: `${showRate(found.small)}; large ${showRate(found.large)}`,
  }
}

async function latencyBeside(bench: Bench, shape: NeighbourShape, kind: 'small' | 'large'): Promise<Beside> {
  const target = shape.isTls ? bench.encrypted : bench.plain
  const heads = headsOf(bench, (text) => text)
  await told(bench.stream, { port: target.port, shape: shape.name, kind, heads })
  await sleep(settling)
  const durations = await getsDuring(measuring, target, head('GET /', bench.quick, target.tokens))
  const bytes = await told(bench.stream, { stop: true })
  await sleep(settling / 2)
  return { ms: median(durations), rate: bytes / 1_000 / (settling + measuring) }
}

/** The middle latency of GETs beside a stream, and what of the stream arrived, in MB a second. */
interface Beside {
  readonly ms: number
  readonly rate: number
}

const showLatency = (all: readonly Beside[]) => `${median(all.map(({ ms }) => ms)).toFixed(2)} ms`
const showRate = (all: readonly Beside[]) => `${median(all.map(({ rate }) => rate)).toFixed(1)} MB/s`

async function told({ child }: Started, order: StreamOrder): Promise<number> {
  const done = once(child, 'message', { signal: AbortSignal.timeout(overdue) })
  child.send(order)
  const [{ bytes }] = (await done) as [{ bytes: number }]
  return bytes
}

/** Durations of GETs one after the other, each on a connection of its own, in ms; one at least. */
async function getsDuring(ms: number, target: Target, request: string): Promise<number[]> {
  const durations: number[] = []
  const begun = performance.now()
  while (durations.length === 0 || performance.now() - begun < ms) durations.push(await durationOfGet(target, request))
  return durations
}

async function durationOfGet({ port, isTls }: Target, request: string): Promise<number> {
  const begun = performance.now()
  const where = { port, host: '127.0.0.1', noDelay: true }
  const socket = isTls ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where)
  const answered = once(socket, 'data', { signal: AbortSignal.timeout(overdue) })
  socket.write(request, 'latin1')
  const [bytes] = (await answered.catch((error: Error) => [error.name])) as [Buffer | string]
  const answer = bytes.toString('latin1')
  if (!answer.startsWith('HTTP/1.1 200') && answer !== 'AbortError') throw new Error(`a GET was refused: ${answer}`)
  socket.destroy()
  return Math.min(overdue, performance.now() - begun)
}
