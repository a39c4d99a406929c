/** Whether this is the name of a time zone (IANA). */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format(0)
    return true
  } catch {
    return false
  }
}

/** How far clocks of the zone are ahead of UTC at a moment, in ms. @param at ms since 1970 */
export function zoneOffset(zone: string, at: number): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(formatOf(zone).format(at)) ?? []
  const ahead = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
  return sign === '-' ? -ahead : ahead
}

/**
 * The moment at which clocks of the zone show this time, in ms since 1970. Where that time is skipped or comes twice,
 * as when summer time begins or ends, the moment is at most an hour away from it.
 * @param local the time as if it were in UTC, in ms since 1970
 */
export function zonedInstant(local: number, zone: string): number {
  return local - zoneOffset(zone, local - zoneOffset(zone, local))
}

/** The date that clocks of the zone show at a moment, as `YYYY-MM-DD`. @param at ms since 1970 */
export function zonedDate(at: number, zone: string): string {
  return new Date(at + zoneOffset(zone, at)).toISOString().slice(0, 10)
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Making one takes longer than all the rest. There are as many as settings and templates name zones. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone) ?? new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  formats.set(zone, known)
  return known
}
