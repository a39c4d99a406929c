import { refusalHeader } from '@berth/api/schemas/error.ts'
import { refusalRows } from '#/refusals/errors.ts'
import { code, page, table } from './markdown.ts'

const introduction = `Every answer under \`/api\` with a status other than 2xx has the body \`{"error": string}\`: a message in the language of the reader ([texts](../../texts/README.md)). The few bodies with further members name them in their row. Programs use the name, which is in the header \`${refusalHeader.replace(/\b\w/g, (letter) => letter.toUpperCase())}\`. An answer 500 without this header is a bug or a failed dependency: the message is generic, and the log has the cause.`

/** docs/reference/errors.md */
export function errorsPage(): string {
  const rows = Object.entries(refusalRows)
    .map(([name, { status, when, remedy }]) => [String(status), code(name), when, remedy])
    .sort(([one = ''], [other = '']) => Number(one) - Number(other))
  return page(
    'Errors',
    'server/src/refusals/errors.ts',
    introduction,
    table(['status', 'name', 'when', 'what to do'], rows),
  )
}
