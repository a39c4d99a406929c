import type { ContainerEvent, DiskEvent, IdleEvent, LaunchEvent, TakeoverEvent } from '@berth/api/schemas/container.ts'
import type { ServerEvent } from '#/events/event-stream.ts'
import { withLaunch, type Launches } from '#/launch/launch-state.ts'

/** That a container is about to be put to rest. */
export type IdleWarning = IdleEvent & { readonly at: string }

/** What the stream of events has told so far, as far as pages show it. */
export interface EventState {
  readonly launches: Launches
  /** Limits that are nearly used up, by container type; null for all homes together. */
  readonly disks: ReadonlyMap<string | null, DiskEvent>
  /** What is about to be put to rest, by container type. */
  readonly idles: ReadonlyMap<string, IdleWarning>
  /** Where each container stands, by type. */
  readonly statuses: ReadonlyMap<string, ContainerEvent['status']>
  /** Why one does not run, by type, where that was told. */
  readonly reasons: ReadonlyMap<string, string>
  /** The last that began; it may be over by now. Told once, so that no snapshot takes it away. */
  readonly takeover: TakeoverEvent | undefined
}

export const initialEventState: EventState = {
  launches: new Map(),
  disks: new Map(),
  idles: new Map(),
  statuses: new Map(),
  reasons: new Map(),
  takeover: undefined,
}

/** What is known after these events. */
export const reduceEvents = (state: EventState, events: readonly ServerEvent[]): EventState =>
  events.reduce(reduceEvent, state)

function reduceEvent(state: EventState, { name, data }: ServerEvent): EventState {
  // After a snapshot only what it says counts.
  if (name === 'snapshot') return { ...initialEventState, takeover: state.takeover }
  if (name === 'launch') return { ...state, launches: withLaunch(state.launches, data as LaunchEvent) }
  if (name === 'disk') return { ...state, disks: withDisk(state.disks, data as DiskEvent) }
  if (name === 'idle') return { ...state, idles: withIdle(state.idles, data as IdleEvent) }
  if (name === 'container') return withContainer(state, data as ContainerEvent)
  if (name === 'takeover') return { ...state, takeover: data as TakeoverEvent }
  return state
}

/** It is told once more when it is less than nine tenths again: then it is no matter any more. */
function withDisk(disks: EventState['disks'], event: DiskEvent): EventState['disks'] {
  const others = [...disks].filter(([type]) => type !== event.type)
  return new Map(event.used < event.limit * 0.9 ? others : [...others, [event.type, event]])
}

function withIdle(idles: EventState['idles'], { at, ...event }: IdleEvent): EventState['idles'] {
  return at === null ? withoutContainerType(idles, event.type) : new Map(idles).set(event.type, { ...event, at })
}

/** What does not run any more is not about to be put to rest either, and nobody tells that apart. */
function withContainer(state: EventState, { type, status, message }: ContainerEvent): EventState {
  const isThere = status === 'running' || status === 'paused'
  const idles = isThere ? state.idles : withoutContainerType(state.idles, type)
  const others = withoutContainerType(state.reasons, type)
  const reasons = message === undefined ? others : new Map(others).set(type, message)
  return { ...state, idles, statuses: new Map(state.statuses).set(type, status), reasons }
}

export const withoutContainerType = <V>(map: ReadonlyMap<string, V>, type: string): ReadonlyMap<string, V> =>
  map.has(type) ? new Map([...map].filter(([key]) => key !== type)) : map
