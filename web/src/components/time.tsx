import { useFormatter } from 'use-intl/react'

/** An instant of the API (ISO 8601) in the reader's language and time zone; the month in letters is unambiguous. */
export function Time({ at }: { at: string }) {
  const format = useFormatter()
  return <time dateTime={at}>{format.dateTime(new Date(at), { dateStyle: 'medium', timeStyle: 'short' })}</time>
}
