import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { table, type Row } from '../table.ts'
import { cpuTime } from '../usage.ts'
import { startProgram, type Program } from './program.ts'
import { sendAll } from './send.ts'
import type { Shape } from './shape.ts'
import { shapesFor } from './shapes.ts'

/** Max CPU of gateway and API together for a request without an account, in microseconds. */
const goal = 500
/**
 * Requests of each shape, as warm-up and measured. After a shorter warm-up a third of the cost is V8's optimizing compiler,
 * which runs once. CPU time has a resolution of 10 ms.
 */
const [warmUp, measured] = [1_500, 3_000]
const connections = 8
/** Times that a shape above the goal is measured; the lowest figure counts, because other work of the machine only adds to it. */
const maxRuns = 3

/**
 * Measures the cost of requests from clients without an account, on the real program.
 * @param parts of the names of the shapes to measure; undefined for all
 * @returns whether each shape meets the goal
 * @throws {Error} when no shape has such a name, when the program does not start, or when a request gets no answer
 */
export async function runHostile(parts: readonly string[] | undefined): Promise<boolean> {
  const program = await startProgram()
  try {
    const all = shapesFor(program, largestScript())
    const shapes = all.filter(({ name }) => parts?.some((part) => name.includes(part)) ?? true)
    if (shapes.length === 0)
      throw new Error(`--shapes=${parts?.join(';')}: there are ${all.map(({ name }) => name).join('; ')}`)
    // The first requests include JIT compilation, which is not charged to them.
    for (const shape of shapes) await send(program, shape, 20)
    const rows: (Row & { readonly cost: number })[] = []
    for (const shape of shapes) rows.push(await measure(program, shape))
    const sorted = rows.toSorted((a, b) => b.cost - a.cost)
    console.log(`\n${table(sorted)}\n\n${rows.length} shapes; the worst: ${sorted[0]?.title}, ${sorted[0]?.ours}`)
    return rows.every(({ isMet }) => isMet ?? true)
  } finally {
    await program.end()
  }
}

async function measure(program: Program, shape: Shape): Promise<Row & { readonly cost: number }> {
  await send(program, shape, warmUp)
  let cost = Infinity
  let statuses = new Map<number, number>()
  for (let runs = 0; runs < (shape.isBody ? 1 : maxRuns) && cost > goal; runs++) {
    const before = cpuTime(program.pid)
    statuses = await send(program, shape, measured)
    cost = Math.min(cost, (cpuTime(program.pid) - before) / measured)
  }
  const row = {
    title: shape.name,
    cost,
    ours: `${cost.toFixed(0)} us`,
    ...(shape.isBody ? {} : { goal: `at most ${goal} us`, isMet: cost <= goal }),
    note: [...statuses].map(([status, count]) => `${count} x ${status || 'cut'}`).join(', '),
  }
  console.log(`${row.title}: ${row.ours} ${row.note}`)
  return row
}

async function send(program: Program, shape: Shape, requests: number): Promise<Map<number, number>> {
  try {
    return await sendAll(program.port, requests, connections, () => [shape.next()].flat())
  } catch (error) {
    throw new Error(`of the shape "${shape.name}" one has no answer`, { cause: error })
  }
}

function largestScript(): string {
  const folder = path.resolve(import.meta.dirname, '../../../web/dist/assets')
  const size = (name: string) => statSync(path.join(folder, name)).size
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'))
  return `/assets/${scripts.toSorted((a, b) => size(b) - size(a))[0]}`
}
