import type { ContainerEvent, LaunchEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { withEventStatus } from '#/containers/container-status.ts'
import type { ServerEvent } from '#/events/event-stream.ts'
import { isOver } from '#/launch/launch-state.ts'

type Entries = readonly ContainerEntry[]

/** The list as these events change it; the same list when they change nothing. */
export function applyEvents(entries: Entries, events: readonly ServerEvent[]): Entries {
  const updates = events.flatMap(({ name, data }) => (name === 'container' ? [data as ContainerEvent] : []))
  const changed = entries.map((entry) =>
    updates.filter(({ type }) => type === entry.type).reduce((now, { status }) => withEventStatus(now, status), entry),
  )
  return changed.every((entry, at) => entry === entries[at]) ? entries : changed
}

/**
 * Whether these events require a refresh: an event has a container's status, but neither its time nor its address. A
 * snapshot requires one only when it differs from the list.
 */
export function needsRefresh(entries: Entries | undefined, events: readonly ServerEvent[]): boolean {
  const isSnapshot = events.some(({ name }) => name === 'snapshot')
  // When the page opens, the list is requested anyway.
  if (isSnapshot) return entries !== undefined && applyEvents(entries, events) !== entries
  return events.some(({ name, data }) => name === 'container' || (name === 'launch' && isOver(data as LaunchEvent)))
}

/** For how long an account counts as new, in ms. */
const newFor = 60 * 60_000

/**
 * Whether a user sees their containers for the first time: none was ever launched, or only by the sign-up, which
 * launches the first type.
 * @param createdAt of the account; null or undefined when unknown
 */
export function isFirstVisit(entries: Entries, createdAt: string | null | undefined, now: number): boolean {
  const launched = entries.filter(({ status, last_used: used }) => status !== 'not_created' || used !== null)
  if (launched.length === 0) return entries.length > 0
  if (launched.length > 1 || launched[0] !== entries[0] || !createdAt) return false
  return now - Date.parse(createdAt) < newFor
}
