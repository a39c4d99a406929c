import type { Body } from '@berth/api/endpoints.ts'
import type { ShareRight } from '@berth/api/schemas/features/sharing.ts'

/** What was typed into the form of a share. */
interface TypedShare {
  readonly emails: string
  /** Id; empty: none. */
  readonly group: string
  readonly may: ShareRight
  /** Digits; empty: the main one. */
  readonly port: string
  /** Local time as `datetime-local` has it. */
  readonly until: string
}

/** The body of a request, or what is missing. */
export function readShare({
  emails,
  group,
  may,
  port,
  until,
}: TypedShare): Body<'shareContainer'> | 'missing' | 'endMissing' | 'badPort' {
  const addresses = [...new Set(emails.split(/[\s,;]+/).filter(Boolean))]
  if (addresses.length === 0 && group === '') return 'missing'
  const digits = port.trim()
  if (digits !== '' && !(/^\d{4,5}$/.test(digits) && Number(digits) >= 1_024 && Number(digits) <= 65_535))
    return 'badPort'
  const end = new Date(until)
  if (Number.isNaN(end.getTime())) return 'endMissing'
  return {
    ...(addresses.length > 0 && { emails: addresses }),
    ...(group !== '' && { group_id: Number(group) }),
    may,
    ...(digits !== '' && { port: Number(digits) }),
    expires_at: end.toISOString(),
  }
}

/** An instant (ms since 1970) as a field for local time has it. */
export function localFieldOf(instant: number): string {
  const offset = new Date(instant).getTimezoneOffset() * 60_000
  return new Date(instant - offset).toISOString().slice(0, 16)
}
