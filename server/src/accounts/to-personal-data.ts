import type { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import type { StoredAuditEntry } from '#/store/audit-log.ts'
import { usageColumns, type UsageSums } from '#/store/usage-sums.ts'
import type { apiTokensOf, containersOf, linksOf, sessionsOf, usageOf } from '#/store/personal-data.ts'

type RowOf<F extends (...parameters: never[]) => AsyncIterable<unknown>> =
  ReturnType<F> extends AsyncIterable<infer Row> ? Row : never
type Entry<K extends keyof PersonalDataResponse> = PersonalDataResponse[K] extends readonly (infer E)[] ? E : never

const iso = (at: number) => new Date(at).toISOString()
const isoOrNull = (at: number | null) => (at === null ? null : iso(at))

export function toContainer(row: RowOf<typeof containersOf>): Entry<'containers'> {
  return {
    id: row.id,
    type: row.container_type,
    container_id: row.container_id,
    image: row.template_image,
    parameters: row.parameters === null ? null : (JSON.parse(row.parameters) as Record<string, unknown>),
    created_at: iso(row.created_at),
    last_used: isoOrNull(row.last_used),
    stopped_at: isoOrNull(row.stopped_at),
    running_since: isoOrNull(row.running_since),
    retired_at: isoOrNull(row.retired_at),
    is_blocked: row.is_blocked === 1,
    blocked_at: isoOrNull(row.blocked_at),
  }
}

export function toSession(row: RowOf<typeof sessionsOf>): Entry<'sessions'> {
  return {
    id: row.id,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    last_used: isoOrNull(row.last_used),
    began: row.began,
    address: row.address,
    browser: row.browser,
    ended_at: isoOrNull(row.ended_at),
    ended_why: row.ended_why,
    taken_over_by: row.acting_admin_email,
    reason: row.reason,
  }
}

export function toLink(row: RowOf<typeof linksOf>): Entry<'links'> {
  return {
    purpose: row.token_type,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    used_at: isoOrNull(row.used_at),
    mailed_at: isoOrNull(row.accepted_at),
    address: row.ip_address,
  }
}

export function toApiToken(row: RowOf<typeof apiTokensOf>): Entry<'api_tokens'> {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes.split(' '),
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    last_used: isoOrNull(row.last_used),
  }
}

export function toUsage(row: RowOf<typeof usageOf>): Entry<'usage'> {
  const sums = Object.fromEntries(usageColumns.map((name) => [name, row[name]])) as unknown as UsageSums
  return { type: row.container_type, unit: row.unit, period: row.period, ...sums }
}

/** Lists of containers of several users in entries about a group. */
const containerLists = ['containers', 'still_blocked']

/**
 * Entries of others have their network address left out, and entries of this user about others everything but the own
 * address: those are facts about other people. Of a group's containers a user gets the own ones.
 */
export function toLoggedAction(
  { id, at, actor, action, target, detail }: StoredAuditEntry,
  userId: number,
  containerIds: readonly number[],
): Entry<'audit_entries'> {
  const isOwn = actor.id === userId
  const ownTargets = [`user:${userId}`, ...containerIds.map((each) => `container:${each}`)]
  const isAboutUser = ownTargets.includes(target) || detail.user === userId
  const { address, ...facts } = detail
  return {
    id,
    at: at.toISOString(),
    action,
    target,
    is_own: isOwn,
    detail: {
      ...(isAboutUser ? facts : ownContainersIn(facts, userId)),
      ...(isOwn && address !== undefined ? { address } : {}),
    },
  }
}

function ownContainersIn(facts: StoredAuditEntry['detail'], userId: number): Record<string, unknown[]> {
  const lists = containerLists.map((name): [string, unknown[]] => {
    const list: unknown = facts[name]
    return [name, Array.isArray(list) ? list.filter((each) => Object(each).user === userId) : []]
  })
  return Object.fromEntries(lists.filter(([, own]) => own.length > 0))
}
