import type { ContainerEvent, LaunchEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { withEventStatus } from '#/containers/container-status.ts'
import type { ServerEvent } from '#/events/event-stream.ts'
import { isOver } from '#/launch/launch-state.ts'

type Entries = readonly ContainerEntry[]

/** The list as these events change it; the same list when they say nothing new. */
export function applyEvents(entries: Entries, events: readonly ServerEvent[]): Entries {
  const updates = events.flatMap(({ name, data }) => (name === 'container' ? [data as ContainerEvent] : []))
  const changed = entries.map((entry) =>
    updates.filter(({ type }) => type === entry.type).reduce((now, { status }) => withEventStatus(now, status), entry),
  )
  return changed.every((entry, at) => entry === entries[at]) ? entries : changed
}

/**
 * Whether these events are a reason to look: an event says where a container stands, and not since when, or at which
 * address. A snapshot says how everything is, which is no news to who sees it that way already.
 */
export function needsRefresh(entries: Entries | undefined, events: readonly ServerEvent[]): boolean {
  const isSnapshot = events.some(({ name }) => name === 'snapshot')
  // How things are when the page opens, it asks by itself.
  if (isSnapshot) return entries !== undefined && applyEvents(entries, events) !== entries
  return events.some(({ name, data }) => name === 'container' || (name === 'launch' && isOver(data as LaunchEvent)))
}

/** How long the account of a new person is one, in ms. */
const newFor = 60 * 60_000

/**
 * Whether somebody sees their containers for the first time: none was ever launched, or only by the sign-up itself, which
 * launches the first type.
 * @param createdAt of the account; null or undefined when it is not known
 */
export function isFirstVisit(entries: Entries, createdAt: string | null | undefined, now: number): boolean {
  const launched = entries.filter(({ status, last_used: used }) => status !== 'not_created' || used !== null)
  if (launched.length === 0) return entries.length > 0
  if (launched.length > 1 || launched[0] !== entries[0] || !createdAt) return false
  return now - Date.parse(createdAt) < newFor
}
