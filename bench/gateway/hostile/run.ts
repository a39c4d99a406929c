import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { table, type Row } from '../table.ts'
import { cpuTime } from '../usage.ts'
import { startProgram, type Program } from './program.ts'
import { sendAll } from './send.ts'
import { shapesFor, type Shape } from './shapes.ts'

/** CPU of gateway and API together that any request without an account may cost, in microseconds. */
const goal = 500
/** Requests of each shape, before and while it is measured. The clock of CPU time ticks every 10 ms. */
const [warmUp, measured] = [200, 1_000]
const connections = 8

/**
 * What requests cost that somebody without an account sends to the real program.
 * @returns whether the goal is met by all
 */
export async function runHostile(): Promise<boolean> {
  const program = await startProgram()
  try {
    const shapes = shapesFor(program, largestScript())
    // The code is compiled by what comes first, which must not be charged for that.
    for (const shape of shapes) await send(program, shape, 20)
    const rows: (Row & { readonly cost: number })[] = []
    for (const shape of shapes) rows.push(await measure(program, shape))
    const sorted = rows.toSorted((a, b) => b.cost - a.cost)
    console.log(`\n${table(sorted)}\n\n${rows.length} shapes; the worst: ${sorted[0]?.title}, ${sorted[0]?.ours}`)
    return rows.every(({ isMet }) => isMet)
  } finally {
    await program.end()
  }
}

async function measure(program: Program, shape: Shape): Promise<Row & { readonly cost: number }> {
  await send(program, shape, warmUp)
  const before = cpuTime(program.pid)
  const statuses = await send(program, shape, measured)
  const cost = (cpuTime(program.pid) - before) / measured
  const row = {
    title: shape.name,
    cost,
    ours: `${cost.toFixed(0)} us`,
    goal: `at most ${goal} us`,
    isMet: cost <= goal,
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
