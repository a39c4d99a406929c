import type { UsersResponse } from '@berth/api/schemas/administration/admin.ts'
import { pages } from '#/paths.ts'

/** The filter of the audit log. Empty text is no condition; `since` and `until` are instants (ISO 8601). */
export interface AuditFilter {
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly since: string
  readonly until: string
}

const names = ['actor', 'action', 'target', 'since', 'until'] as const

export const noFilter: AuditFilter = { actor: '', action: '', target: '', since: '', until: '' }

/** The filter in a URL's query. Invalid instants are ignored: the fields could not show them. */
export function filterIn(query: URLSearchParams): AuditFilter {
  const text = (name: (typeof names)[number]) => query.get(name)?.trim() ?? ''
  const at = (name: 'since' | 'until') =>
    Number.isNaN(Date.parse(text(name))) ? '' : new Date(text(name)).toISOString()
  return {
    actor: text('actor'),
    action: text('action'),
    target: text('target'),
    since: at('since'),
    until: at('until'),
  }
}

/** The conditions, as the API and URLs take them. */
export function conditionsOf(filter: AuditFilter): Partial<Record<keyof AuditFilter, string>> {
  return Object.fromEntries(names.flatMap((name) => (filter[name] === '' ? [] : [[name, filter[name]]])))
}

/** The URL of the log with this filter; the same for every user in every time zone. */
export function addressOf(filter: Partial<AuditFilter>): string {
  const query = new URLSearchParams(conditionsOf({ ...noFilter, ...filter }))
  return query.size === 0 ? pages.adminAudit : `${pages.adminAudit}?${query}`
}

export const isFiltered = (filter: AuditFilter) => Object.keys(conditionsOf(filter)).length > 0

/** An instant as a field of type `datetime-local` takes it: in the reader's time zone, to the minute. */
export function toLocalField(at: string): string {
  if (at === '') return ''
  const date = new Date(at)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The instant of such a field; empty when the field is. */
export function fromLocalField(value: string): string {
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

/**
 * Resolves the text of the target field to a target of the log: an e-mail address or slug becomes its user's id, a
 * number is a user's id.
 * @param findUsers returns the users with this text in their address or slug
 * @returns undefined when no user has that address
 */
export async function findTarget(
  typed: string,
  findUsers: (part: string) => Promise<UsersResponse['users']>,
): Promise<string | undefined> {
  const text = typed.trim()
  if (text === '' || /^[a-z][a-z-]*:./.test(text)) return text
  if (/^\d+$/.test(text)) return `user:${text}`
  const wanted = text.toLowerCase()
  const found = (await findUsers(wanted)).find(({ email, slug }) => email === wanted || slug === wanted)
  return found && `user:${found.id}`
}
