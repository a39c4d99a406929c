import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const docs = path.resolve(import.meta.dirname, '../../../../docs/reference/tested-applications.md')
const marks = ['<!-- last run: written by npm run test:apps -->\n', '<!-- end of last run -->'] as const

/** A test of an application: its title is what a person would see. */
export interface Fact {
  readonly app: string
  readonly title: string
  readonly held: boolean
  /** Why it was not tried; null when it was. */
  readonly skipped: string | null
}

/** Puts what was seen between the two marks in docs/reference/tested-applications.md. @throws {Error} when they are not there */
export function recordRun(facts: readonly Fact[]): void {
  const text = readFileSync(docs, 'utf8')
  const [before, rest] = text.split(marks[0])
  const after = rest?.split(marks[1])[1]
  if (before === undefined || after === undefined) throw new Error(`${docs} lacks the marks of the last run`)
  writeFileSync(docs, before + marks[0] + describe(facts) + marks[1] + after)
}

function describe(facts: readonly Fact[]): string {
  const tried = facts.filter(({ skipped }) => skipped === null)
  const held = tried.filter((fact) => fact.held).length
  const lines = [...Map.groupBy(facts, ({ app }) => app)].flatMap(([app, own]) => [
    `**${app}**`,
    '',
    ...own.map(
      ({ title, held: isSo, skipped }) =>
        `- ${skipped === null ? '' : `not tried, ${skipped}: `}${isSo ? '' : 'NOT: '}${title}`,
    ),
    '',
  ])
  return [`${new Date().toISOString().slice(0, 10)}: ${held} of ${tried.length} facts held.`, '', ...lines].join('\n')
}
