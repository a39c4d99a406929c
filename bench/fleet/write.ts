import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import path from 'node:path'
import { engines, type EngineName } from './engines.ts'
import { plot } from './plot.ts'
import { table, type Level } from './report.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')
const document = path.join(docs, 'explanation/performance.md')
const picture = 'images/fleet.svg'
/** What the table of an engine stands between. */
const marks = {
  docker: ['<!-- fleet: begin -->', '<!-- fleet: end -->'],
  kubernetes: ['<!-- fleet of pods: begin -->', '<!-- fleet of pods: end -->'],
} as const

/**
 * Writes the table, and for Docker the plot, between the markers of docs/explanation/performance.md. @throws {Error} when they are
 * missing
 */
export function write(engine: EngineName, levels: readonly Level[]): void {
  const [begin, end] = marks[engine]
  const text = readFileSync(document, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the marks are missing in ${document}`)
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GB, Node ${process.versions.node}`
  const result = [
    begin,
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machine}. ${engines[engine].inWords()}`,
    '',
    table(levels),
    '',
    ...(engine === 'docker'
      ? [`![List of one person, resident size and CPU with 1,000, 10,000 and 20,000 containers](../${picture})`, '']
      : []),
    '',
  ].join('\n')
  writeFileSync(document, text.slice(0, from) + result + text.slice(to))
  if (engine === 'docker') writeFileSync(path.join(docs, picture), plot(levels))
}
