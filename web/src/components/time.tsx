import { useFormatter } from 'use-intl/react'

/** An instant of the API (ISO 8601), as the reader's language writes it and in their time zone; the month in letters cannot be misread. */
export function Time({ at }: { at: string }) {
  const format = useFormatter()
  return <time dateTime={at}>{format.dateTime(new Date(at), { dateStyle: 'medium', timeStyle: 'short' })}</time>
}
