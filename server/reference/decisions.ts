import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { page, table } from './markdown.ts'

const folder = path.resolve(import.meta.dirname, '../../docs/explanation/decisions')

/** A decision record. */
export interface Decision {
  readonly file: string
  readonly title: string
  /** e.g. `accepted`, or `replaced by [016](...)`. */
  readonly status: string
  readonly text: string
}

/** Every decision record in the order of their numbers, without the template. */
export function decisions(): Decision[] {
  const files = globSync('[0-9][0-9][0-9]-*.md', { cwd: folder }).sort()
  return files
    .filter((file) => !file.startsWith('000'))
    .map((file) => {
      const text = readFileSync(path.join(folder, file), 'utf8')
      const [, title = '', status = ''] = /^# \d{3} (.*)\n\n[\d-]+ · (.*)\n/.exec(text) ?? []
      return { file, title, status, text }
    })
}

/** docs/explanation/decisions/README.md */
export function decisionsPage(): string {
  const rows = decisions().map(({ file, title, status }) => [file.slice(0, 3), `[${title}](${file})`, status])
  const introduction =
    'Each record states the context of a decision, the decision, and its consequences. A new record is a copy of [the template](000-template.md) with the next number; one that continues another goes on its page, below a heading of its own. A record is corrected when the code moves on; a decision that no longer holds is marked as replaced.'
  return page('Decisions', 'the records', introduction, table(['', 'decision', 'status'], rows))
}
