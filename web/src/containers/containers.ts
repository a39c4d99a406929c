import type { ContainerEvent, LaunchEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
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

const ranks: Readonly<Record<string, number>> = { running: 0, paused: 1 }

/** Running ones first, then paused ones; each in the order of the list. */
export function sortedByUse(entries: Entries): Entries {
  const rankOf = ({ status }: ContainerEntry) => ranks[status] ?? 2
  return entries.toSorted((one, other) => rankOf(one) - rankOf(other))
}

/** The variant of a status; the word beside it says the same. */
export type Tone = 'good' | 'idle' | 'busy' | 'bad'

/** Keys of `dashboard.status`. */
type StatusWord =
  | 'notLaunched'
  | 'running'
  | 'stopped'
  | 'paused'
  | 'restarting'
  | 'removing'
  | 'broken'
  | 'missing'
  | 'unknown'
  | 'blocked'
  | 'ended'
/** Keys of `dashboard.hint`. */
type StatusHint = 'replaced' | 'renewed' | 'engine' | 'paused' | 'crashed' | 'outOfMemory' | 'evicted' | 'nodeLost'

interface StatusView {
  /** Undefined for an unknown status, which is shown as the engine reports it. */
  readonly word: StatusWord | undefined
  readonly tone: Tone
  /** What it means for the user, where the word alone does not say. */
  readonly hint?: StatusHint
}

/** Specification, Container runtime status values, and the words of the engines of Docker and Podman. */
const views: Readonly<Record<string, StatusView>> = {
  not_created: { word: 'notLaunched', tone: 'idle' },
  running: { word: 'running', tone: 'good' },
  created: { word: 'stopped', tone: 'idle' },
  exited: { word: 'stopped', tone: 'idle' },
  paused: { word: 'paused', tone: 'idle', hint: 'paused' },
  restarting: { word: 'restarting', tone: 'busy' },
  removing: { word: 'removing', tone: 'busy' },
  dead: { word: 'broken', tone: 'bad', hint: 'replaced' },
  not_found: { word: 'missing', tone: 'idle', hint: 'renewed' },
  error: { word: 'unknown', tone: 'bad', hint: 'engine' },
}

/** How a program ended, where the engine reports only that it is over. */
const ends: Partial<Record<ContainerEvent['status'], StatusView>> = {
  crashed: { word: 'ended', tone: 'bad', hint: 'crashed' },
  'out-of-memory': { word: 'ended', tone: 'bad', hint: 'outOfMemory' },
  evicted: { word: 'stopped', tone: 'idle', hint: 'evicted' },
  'node-lost': { word: 'unknown', tone: 'bad', hint: 'nodeLost' },
}

/**
 * The view of a container's status. A block comes first: whatever the engine reports, nothing can be launched.
 * @param eventStatus the status of the last event, which knows how a program ended
 */
export function statusView(
  entry: Pick<ContainerEntry, 'status' | 'is_blocked' | 'last_used'>,
  eventStatus?: ContainerEvent['status'],
): StatusView {
  if (entry.is_blocked) return { word: 'blocked', tone: 'bad' }
  const isOver = entry.status === 'exited' || (entry.status === 'removing' && eventStatus === 'node-lost')
  const end = eventStatus && isOver ? ends[eventStatus] : undefined
  if (end) return end
  // It existed: Berth removes unused containers from the engine, and the next launch recreates them.
  if (entry.status === 'not_created' && entry.last_used !== null)
    return { word: 'stopped', tone: 'idle', hint: 'renewed' }
  return Object.hasOwn(views, entry.status) ? views[entry.status]! : { word: undefined, tone: 'idle' }
}

/**
 * The actions that a user has on a container. Restart replaces a container, so it needs one. Opening resumes a paused
 * container. Stop also ends a launch that is under way. Logs can always be read, and
 * ports be seen while it runs, unless its template has none.
 */
export function actionsFor(
  entry: Pick<
    ContainerEntry,
    'status' | 'is_blocked' | 'launch_refused' | 'container_id' | 'created_at' | 'home' | 'ports_off'
  >,
  { isStarting }: { isStarting: boolean },
) {
  const isThere = entry.status === 'running' || entry.status === 'paused'
  const isLaunchable = !entry.is_blocked && entry.launch_refused === undefined
  return {
    open: isThere && !entry.is_blocked,
    launch: !isThere && isLaunchable,
    restart: isLaunchable && entry.container_id !== null,
    stop: (isThere || isStarting) && !entry.is_blocked,
    readFiles: !isThere && !isStarting && !entry.is_blocked && entry.home !== null && entry.created_at !== null,
    seePorts: entry.status === 'running' && !entry.is_blocked && !entry.ports_off,
    readLogs: entry.container_id !== null && entry.status !== 'not_found',
  }
}

/** The list's status for each status of an event. Specification, Container runtime status values. */
const statuses: Readonly<Record<ContainerEvent['status'], string | undefined>> = {
  running: 'running',
  paused: 'paused',
  asleep: 'exited',
  evicted: 'exited',
  'node-lost': 'removing',
  crashed: 'exited',
  'out-of-memory': 'exited',
  missing: 'not_found',
  unknown: 'error',
  // An event does not say what the engine would report of these.
  'no-image': undefined,
  failed: undefined,
  blocked: undefined,
}

/** The entry as an event changes it, until the next refresh; the same entry when the event changes nothing. */
function withEventStatus(entry: ContainerEntry, eventStatus: ContainerEvent['status']): ContainerEntry {
  if (eventStatus === 'blocked') return entry.is_blocked ? entry : { ...entry, is_blocked: true }
  const status = statuses[eventStatus]
  if (status === undefined || status === entry.status) return entry
  // A used type without a container is asleep, too.
  if (entry.status === 'not_created' && eventStatus === 'asleep' && entry.last_used !== null) return entry
  // A type that was never launched is not found, and a created container is exited in the list's words: no change.
  const isNoNews = { not_created: 'not_found', created: 'exited' }[entry.status] === status
  return isNoNews ? entry : { ...entry, status }
}
