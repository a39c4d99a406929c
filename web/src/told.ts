import type { ContainerEvent, DiskEvent, IdleEvent, LaunchEvent, TakeoverEvent } from '@berth/api/container.ts'
import type { ServerEvent } from '#/event-stream.ts'
import { withLaunch, type Launches } from '#/launches.ts'

/** That a container is about to be put to rest. */
export type IdleWarning = IdleEvent & { readonly at: string }

/** What the stream of events has told so far, as far as pages show it. */
export interface Told {
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

export const nothingTold: Told = {
  launches: new Map(),
  disks: new Map(),
  idles: new Map(),
  statuses: new Map(),
  reasons: new Map(),
  takeover: undefined,
}

/** What is known after these events. */
export const takeIn = (told: Told, events: readonly ServerEvent[]): Told => events.reduce(takeInOne, told)

function takeInOne(told: Told, { name, data }: ServerEvent): Told {
  // After a snapshot only what it says counts.
  if (name === 'snapshot') return { ...nothingTold, takeover: told.takeover }
  if (name === 'launch') return { ...told, launches: withLaunch(told.launches, data as LaunchEvent) }
  if (name === 'disk') return { ...told, disks: withDisk(told.disks, data as DiskEvent) }
  if (name === 'idle') return { ...told, idles: withIdle(told.idles, data as IdleEvent) }
  if (name === 'container') return withContainer(told, data as ContainerEvent)
  if (name === 'takeover') return { ...told, takeover: data as TakeoverEvent }
  return told
}

/** It is told once more when it is less than nine tenths again: then it is no matter any more. */
function withDisk(disks: Told['disks'], event: DiskEvent): Told['disks'] {
  const others = [...disks].filter(([type]) => type !== event.type)
  return new Map(event.used < event.limit * 0.9 ? others : [...others, [event.type, event]])
}

function withIdle(idles: Told['idles'], { at, ...event }: IdleEvent): Told['idles'] {
  return at === null ? withoutType(idles, event.type) : new Map(idles).set(event.type, { ...event, at })
}

/** What does not run any more is not about to be put to rest either, and nobody tells that apart. */
function withContainer(told: Told, { type, status, message }: ContainerEvent): Told {
  const isThere = status === 'running' || status === 'paused'
  const idles = isThere ? told.idles : withoutType(told.idles, type)
  const others = withoutType(told.reasons, type)
  const reasons = message === undefined ? others : new Map(others).set(type, message)
  return { ...told, idles, statuses: new Map(told.statuses).set(type, status), reasons }
}

export const withoutType = <V>(map: ReadonlyMap<string, V>, type: string): ReadonlyMap<string, V> =>
  map.has(type) ? new Map([...map].filter(([key]) => key !== type)) : map
