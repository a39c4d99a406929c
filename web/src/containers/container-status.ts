import type { ContainerEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'

/** How a status looks; the word beside it says the same. */
export type Tone = 'good' | 'idle' | 'busy' | 'bad'

/** Keys of `dashboard.status`. */
export type StatusWord =
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
export type StatusHint = 'replaced' | 'renewed' | 'engine' | 'paused' | 'crashed' | 'outOfMemory'

export interface StatusView {
  /** Undefined: nobody has a word for it, so it is shown as the engine reports it. */
  readonly word: StatusWord | undefined
  readonly tone: Tone
  /** What it means for the person, where the word alone does not say. */
  readonly hint?: StatusHint
}

/** Specification, Container runtime status values, and the words of Docker's and Podman's engines. */
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

/** What is known of the end of a program that the engine only reports as over. */
const ends: Partial<Record<ContainerEvent['status'], StatusView>> = {
  crashed: { word: 'ended', tone: 'bad', hint: 'crashed' },
  'out-of-memory': { word: 'ended', tone: 'bad', hint: 'outOfMemory' },
}

/**
 * What a container's status looks like. A block comes first: whatever the engine reports, nothing can be launched.
 * @param eventStatus where it stands as an event told it last, which knows how a program ended
 */
export function statusView(
  entry: Pick<ContainerEntry, 'status' | 'is_blocked' | 'last_used'>,
  eventStatus?: ContainerEvent['status'],
): StatusView {
  if (entry.is_blocked) return { word: 'blocked', tone: 'bad' }
  const end = eventStatus && entry.status === 'exited' ? ends[eventStatus] : undefined
  if (end) return end
  // It was there: Berth removes from the engine what nobody used for long, and the next launch makes it anew.
  if (entry.status === 'not_created' && entry.last_used !== null)
    return { word: 'stopped', tone: 'idle', hint: 'renewed' }
  return Object.hasOwn(views, entry.status) ? views[entry.status]! : { word: undefined, tone: 'idle' }
}

/**
 * What a person can do with a container. Restart replaces, so it needs something to replace; what is stopped, too, for it
 * may not start any more as it is. What is paused goes on by
 * being opened. Stopping gives up a launch that is under way. Reading is never forbidden.
 */
export function actionsFor(
  entry: Pick<ContainerEntry, 'status' | 'is_blocked' | 'container_id'>,
  { isStarting }: { isStarting: boolean },
) {
  const isThere = entry.status === 'running' || entry.status === 'paused'
  return {
    open: isThere && !entry.is_blocked,
    launch: !isThere && !entry.is_blocked,
    restart: !entry.is_blocked && entry.container_id !== null,
    stop: (isThere || isStarting) && !entry.is_blocked,
    readLogs: entry.container_id !== null && entry.status !== 'not_found',
  }
}

/** What the list says of a container that an event told of. Specification, Container runtime status values. */
const statuses: Readonly<Record<ContainerEvent['status'], string | undefined>> = {
  running: 'running',
  paused: 'paused',
  asleep: 'exited',
  crashed: 'exited',
  'out-of-memory': 'exited',
  missing: 'not_found',
  unknown: 'error',
  // What the engine would report of these is not told.
  'no-image': undefined,
  failed: undefined,
  blocked: undefined,
}

/** An entry as an event changes it, until the next look; the same entry when it says nothing new. */
export function withEventStatus(entry: ContainerEntry, eventStatus: ContainerEvent['status']): ContainerEntry {
  if (eventStatus === 'blocked') return entry.is_blocked ? entry : { ...entry, is_blocked: true }
  const status = statuses[eventStatus]
  if (status === undefined || status === entry.status) return entry
  // What has no container sleeps, too, once it was used.
  if (entry.status === 'not_created' && eventStatus === 'asleep' && entry.last_used !== null) return entry
  // One that was never launched is nowhere, and stopped is stopped, whichever of its words the engine uses: no news.
  const isNoNews = { not_created: 'not_found', created: 'exited' }[entry.status] === status
  return isNoNews ? entry : { ...entry, status }
}
