import { cpus, loadavg } from 'node:os'
import { startBrowser } from '../../server/test/support/browser.ts'
import { crowded, everyday } from './services.ts'
import { table } from './figures-table.ts'
import { people } from './options.ts'
import { measureFirstLoad, measureSlowLine } from './first-load.ts'
import { measureInteractions, measureTable } from './interactions.ts'
import { BenchLifetime } from '../lifetime.ts'

/**
 * Front-end benchmark: `npm run bench:web`. Bytes, paints and interactions in Chromium with a CPU slowed down four times;
 * the administrators' table with 100,000 users at the machine's own speed. A missed goal does not fail the run.
 */
await using lifetime = new BenchLifetime()
const [browser, crowd, ours] = await Promise.all([
  startBrowser(lifetime),
  crowded(lifetime, people),
  everyday(lifetime),
])
await measureFirstLoad(browser, ours)
await measureSlowLine(browser, ours)
await measureInteractions(browser, ours, crowd)
await measureTable(browser, crowd)
process.stdout.write(`${table()}\n\n${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)
