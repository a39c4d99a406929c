import type { DiskEvent, LaunchEvent } from '@berth/api/container.ts'
import type { ServerEvent } from '#/event-stream.ts'
import { isOver, withLaunch, type Launches } from '#/launches.ts'

/** What the stream of events has told so far, as far as pages show it. */
export interface Told {
  readonly launches: Launches
  /** Limits that are nearly used up, by container type; null for all homes together. */
  readonly disks: ReadonlyMap<string | null, DiskEvent>
}

export const nothingTold: Told = { launches: new Map(), disks: new Map() }

/** What is known after these events. */
export const takeIn = (told: Told, events: readonly ServerEvent[]): Told => events.reduce(takeInOne, told)

function takeInOne(told: Told, { name, data }: ServerEvent): Told {
  // After a snapshot only what it says counts.
  if (name === 'snapshot') return nothingTold
  if (name === 'launch') return { ...told, launches: withLaunch(told.launches, data as LaunchEvent) }
  if (name === 'disk') return { ...told, disks: withDisk(told.disks, data as DiskEvent) }
  return told
}

/** It is told once more when it is less than nine tenths again: then it is no matter any more. */
function withDisk(disks: Told['disks'], event: DiskEvent): Told['disks'] {
  const others = [...disks].filter(([type]) => type !== event.type)
  return new Map(event.used < event.limit * 0.9 ? others : [...others, [event.type, event]])
}

/** Whether these events say that a container is not what it was. */
export const isNews = (events: readonly ServerEvent[]) =>
  events.some(({ name, data }) => name === 'container' || (name === 'launch' && isOver(data as LaunchEvent)))
