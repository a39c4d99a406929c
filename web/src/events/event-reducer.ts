import type {
  ContainerEvent,
  DiskEvent,
  IdleEvent,
  LaunchEvent,
  LayerEvent,
  LooksEvent,
  TakeoverEvent,
  VisitorsEvent,
} from '@berth/api/schemas/container.ts'
import type { ServerEvent } from './event-stream.ts'
import { withLaunch, type Launches } from '#/launch/launch-state.ts'

/** A warning of idle suspension. */
export type IdleWarning = IdleEvent & { readonly at: string }

/** The state that the event stream has reported, as far as pages show it. */
export interface EventState {
  readonly launches: Launches
  /** Limits that are nearly used up, by container type; null for all homes together. */
  readonly disks: ReadonlyMap<string | null, DiskEvent>
  /** Containers that have written nearly as much outside of their homes as they may, by container type. */
  readonly layers: ReadonlyMap<string, LayerEvent>
  /** Warnings of idle suspension, by container type. */
  readonly idles: ReadonlyMap<string, IdleWarning>
  /** The last event of each container, by type: its status, since when, and why. */
  readonly containers: ReadonlyMap<string, ContainerEvent>
  /** Who has a shared container open now, by container type; types without visitors are left out. */
  readonly visitors: ReadonlyMap<string, VisitorsEvent['visitors']>
  /** What managers ask to look at, and what they may look at now. */
  readonly looks: LooksEvent
  /** The latest takeover; it may be over by now. The server sends it once, so a snapshot does not remove it. */
  readonly takeover: TakeoverEvent | undefined
}

export const initialEventState: EventState = {
  launches: new Map(),
  disks: new Map(),
  layers: new Map(),
  idles: new Map(),
  containers: new Map(),
  visitors: new Map(),
  looks: { requests: [], looks: [] },
  takeover: undefined,
}

/** Reduces events to the next state. */
export const reduceEvents = (state: EventState, events: readonly ServerEvent[]): EventState =>
  events.reduce(reduceEvent, state)

function reduceEvent(state: EventState, { name, data }: ServerEvent): EventState {
  // A snapshot replaces all state but the takeover, which is sent once.
  if (name === 'snapshot') return { ...initialEventState, takeover: state.takeover }
  if (name === 'launch') return { ...state, launches: withLaunch(state.launches, data as LaunchEvent) }
  if (name === 'disk') return { ...state, disks: withDisk(state.disks, data as DiskEvent) }
  if (name === 'layer') return { ...state, layers: withLayer(state.layers, data as LayerEvent) }
  if (name === 'idle') return { ...state, idles: withIdle(state.idles, data as IdleEvent) }
  if (name === 'container') return withContainer(state, data as ContainerEvent)
  if (name === 'visitors') return { ...state, visitors: withVisitors(state.visitors, data as VisitorsEvent) }
  if (name === 'looks') return { ...state, looks: data as LooksEvent }
  if (name === 'takeover') return { ...state, takeover: data as TakeoverEvent }
  return state
}

/** The server sends one more event when usage falls below 90 %, or can be measured again: it removes the warning. */
function withDisk(disks: EventState['disks'], event: DiskEvent): EventState['disks'] {
  const others = [...disks].filter(([type]) => type !== event.type)
  return new Map(event.measured && event.used < event.limit * 0.9 ? others : [...others, [event.type, event]])
}

/** Likewise. */
function withLayer(layers: EventState['layers'], event: LayerEvent): EventState['layers'] {
  const isOver = event.used < event.limit * 0.9
  return isOver ? withoutContainerType(layers, event.type) : new Map(layers).set(event.type, event)
}

function withIdle(idles: EventState['idles'], { at, ...event }: IdleEvent): EventState['idles'] {
  return at === null ? withoutContainerType(idles, event.type) : new Map(idles).set(event.type, { ...event, at })
}

function withVisitors(all: EventState['visitors'], { type, visitors }: VisitorsEvent): EventState['visitors'] {
  return visitors.length === 0 ? withoutContainerType(all, type) : new Map(all).set(type, visitors)
}

/** A container that does not run has no warning; the server sends no event for that. */
function withContainer(state: EventState, event: ContainerEvent): EventState {
  const { type, status } = event
  const isThere = status === 'running' || status === 'paused'
  const idles = isThere ? state.idles : withoutContainerType(state.idles, type)
  const layers = isThere ? state.layers : withoutContainerType(state.layers, type)
  // A launch that the block ended has nothing to say once the container is unblocked.
  const isUnblocked = status !== 'blocked' && state.containers.get(type)?.status === 'blocked'
  const hasFailed = state.launches.get(type)?.event.stage === 'failed'
  const launches = isUnblocked && hasFailed ? withoutContainerType(state.launches, type) : state.launches
  return { ...state, idles, layers, launches, containers: new Map(state.containers).set(type, event) }
}

export const withoutContainerType = <V>(map: ReadonlyMap<string, V>, type: string): ReadonlyMap<string, V> =>
  map.has(type) ? new Map([...map].filter(([key]) => key !== type)) : map
