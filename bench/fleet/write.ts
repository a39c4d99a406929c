import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import path from 'node:path'
import { readEngineFigures } from './engine-figures.ts'
import { plot } from './plot.ts'
import { table, type Level } from './report.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')
const document = path.join(docs, 'explanation/performance.md')
const picture = 'images/fleet.svg'
const [begin, end] = ['<!-- fleet: begin -->', '<!-- fleet: end -->']

/**
 * Writes table and plot between the markers of docs/explanation/performance.md. @throws {Error} when they are missing
 */
export function write(levels: readonly Level[]): void {
  const text = readFileSync(document, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the marks are missing in ${document}`)
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GB, Node ${process.versions.node}`
  const result = [
    begin,
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machine}. ${engineInWords()}`,
    '',
    table(levels),
    '',
    `![List of one person, resident size and CPU with 1,000, 10,000 and 20,000 containers](../${picture})`,
    '',
    '',
  ].join('\n')
  writeFileSync(document, text.slice(0, from) + result + text.slice(to))
  writeFileSync(path.join(docs, picture), plot(levels))
}

/** The fake engine in one sentence with its figures. */
export function engineInWords(): string {
  const { engine, measuredOn, cores, latencies, perListedContainer, perPassedContainer, perListedVolume } =
    readEngineFigures()
  const medians = Object.entries(latencies).map(([name, quantiles]) => `${name} ${quantiles[10]?.toFixed(1)}`)
  return (
    `The stand-in answers as ${engine} did on ${measuredOn} (${cores} cores; medians in ms: ${medians.join(', ')}; ` +
    `and for each entry of a list ${(perListedContainer * 1000).toFixed(0)} us, for each that a filter leaves out ${(perPassedContainer * 1000).toFixed(0)} us, of the volumes' ${(perListedVolume * 1000).toFixed(0)} us).`
  )
}
