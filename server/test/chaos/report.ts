import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import path from 'node:path'
import type { Footprint } from './world/berth-program.ts'
import type { Report } from './run.ts'

const document = path.resolve(import.meta.dirname, '../../../docs/explanation/reliability.md')
const [begin, end] = ['<!-- chaos: begin -->', '<!-- chaos: end -->']

/** The result in Markdown, which is also what a terminal shows. */
export function shown(report: Report, seed: number): string {
  const { verdict, faults, deaths, took } = report
  const minutes = (took / 60_000).toFixed(1)
  return [
    `Seed ${seed}, ${minutes} minutes, ${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GB.`,
    '',
    table(['fault', 'times'], [...faults].sort(byName)),
    table(['killed at', 'times'], [...deaths].sort(byName)),
    table(
      ['invariant', 'checked', 'longest until true'],
      [
        ...[...verdict.checks].map(([words, count]) => [words, count, timeOf(verdict.slowest.get(words) ?? 0)]),
        ['promises (answers 200) compared with the store', report.promises, ''],
        ['answers that had to be 200 within 10 s', report.promptAnswers, ''],
        ['looks at homes that two containers had written', report.commonHomes, ''],
        ['probes of own and foreign apps meanwhile', report.probes, ''],
      ],
    ),
    ...footprintLines(report),
    `Violations: ${verdict.violations.length}`,
    ...verdict.violations.map((words) => `- ${words}`),
  ].join('\n')
}

/** Puts the result between the marks of docs/explanation/reliability.md. @throws when they are not there */
export function writeReport(report: Report, seed: number, store: string): void {
  const text = readFileSync(document, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the marks are missing in ${document}`)
  const result = `${begin}\n\n${store}. ${shown(report, seed)}\n\n`
  writeFileSync(document, text.slice(0, from) + result + text.slice(to))
}

function footprintLines({ footprints }: Report): string[] {
  const [first] = footprints
  if (!first) return []
  const later = footprints.slice(1).map((_, at) => `after ${at + 1}/${footprints.length - 1} of the other faults`)
  const row = (name: 'gateway' | 'api') => [
    `${name} process`,
    ...footprints.map((each) => megabytes(each[name])),
    footprints.map((each) => each[name].handles).join(' → '),
  ]
  return [table(['memory, MB', 'after the kills', ...later, 'handles'], [row('gateway'), row('api')])]
}

/** Of an invariant that holds at every moment there is none. */
const timeOf = (slowest: number) => (slowest === 0 ? 'at every look' : `${(slowest / 1000).toFixed(1)} s`)
const byName = ([one]: [string, number], [other]: [string, number]) => one.localeCompare(other)
const megabytes = ({ memory }: Footprint) => (memory / 1024 ** 2).toFixed(1)

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n')
}
