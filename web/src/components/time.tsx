// The sentences are English, so the dates are too; the month in letters cannot be misread.
const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/** An instant of the API (ISO 8601) in the reader's time zone. */
export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{format.format(new Date(at))}</time>
}
