/** A day as fields for dates have it, some days after an instant; in local time. @param from ms since 1970 */
export function dayAfter(from: number, days: number): string {
  const date = new Date(from)
  date.setDate(date.getDate() + days)
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'))
  return `${date.getFullYear()}-${month}-${day}`
}

/** The instant at which a day begins here, as the API has it; undefined for what is no day. */
export function startOf(day: string): string | undefined {
  const date = new Date(`${day}T00:00`)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
