import Type from 'typebox'
import { Instant, OneOf, OrNull } from './shapes.ts'

/** Any text: an unknown type is answered by the use case with 400, whatever it looks like. */
export const TypeParams = Type.Object({ container_type: Type.String() })

export const StatusResponse = Type.Object({
  container_id: OrNull(Type.String()),
  status: Type.String({ description: 'no_container, not_found, what the engine reports, or "error: " and a detail' }),
})
export type StatusResponse = Type.Static<typeof StatusResponse>

export const RestartResponse = Type.Object({
  message: Type.String(),
  container_id: Type.String(),
  status: Type.Literal('running'),
})
export type RestartResponse = Type.Static<typeof RestartResponse>

export const LaunchResponse = Type.Object({
  message: Type.String(),
  service_url: Type.String(),
  container_id: Type.String(),
  status: Type.Literal('running'),
})
export type LaunchResponse = Type.Static<typeof LaunchResponse>

/** `until`: when it is put to rest at the earliest; null when it never is, or does not run. */
export const KeepResponse = Type.Object({ message: Type.String(), until: OrNull(Instant) })
export type KeepResponse = Type.Static<typeof KeepResponse>

/** Nobody used it for so long that it is about to be put to rest; a minute before, or a quarter of its idle time. */
export const IdleEvent = Type.Object({
  type: Type.String(),
  action: Type.Union([Type.Literal('pause'), Type.Literal('stop')]),
  /** Null: not any more, it was used again. */
  at: OrNull(Instant),
})
export type IdleEvent = Type.Static<typeof IdleEvent>

/** Where a container stands from now on. */
export const ContainerEvent = Type.Object({
  type: Type.String(),
  status: OneOf([
    'running',
    'paused',
    'blocked',
    'asleep',
    'missing',
    'crashed',
    'out-of-memory',
    'no-image',
    'failed',
    'unknown',
  ]),
  /** Why it does not run, for people, when that is known of `crashed`, `out-of-memory`, `no-image` and `failed`. */
  message: Type.Optional(Type.String()),
})
export type ContainerEvent = Type.Static<typeof ContainerEvent>

/** Why a launch failed, in one word. */
export const LaunchFailure = Type.Union([
  Type.Literal('crashed'), // the program ended at once
  Type.Literal('out-of-memory'), // the kernel killed it
  Type.Literal('no-image'), // the image cannot be had
  Type.Literal('full'), // a limit, or the host, leaves no room
  Type.Literal('engine'), // the engine does not answer
  Type.Literal('stopped'), // its owner stopped it before it ran
  Type.Literal('failed'), // anything else
])
export type LaunchFailure = Type.Static<typeof LaunchFailure>

const ofType = { type: Type.String() }

/** How far a launch is. Stages come in this order, those that are not needed are left out, and each may be repeated. */
export const LaunchEvent = Type.Union([
  Type.Object({ ...ofType, stage: Type.Literal('queued'), place: Type.Integer(), waiting: Type.Integer() }),
  Type.Object({
    ...ofType,
    stage: Type.Literal('pulling'),
    layers_done: Type.Integer(),
    layers_total: Type.Integer(),
    bytes_done: Type.Integer(),
    bytes_total: Type.Integer(),
  }),
  Type.Object({ ...ofType, stage: Type.Literal('creating') }),
  Type.Object({ ...ofType, stage: Type.Literal('starting') }),
  Type.Object({ ...ofType, stage: Type.Literal('waiting') }),
  Type.Object({ ...ofType, stage: Type.Literal('ready') }),
  Type.Object({
    ...ofType,
    stage: Type.Literal('failed'),
    reason: LaunchFailure,
    message: Type.String(),
    exit_code: OrNull(Type.Integer()),
    last_lines: Type.Array(Type.String()),
  }),
])
export type LaunchEvent = Type.Static<typeof LaunchEvent>

/**
 * How much of what they may have on disk the homes of somebody take, in bytes: of one type, or (null) of all together. Told
 * from nine tenths on, with each new measurement, and once when it is less again. At the limit, launches are refused.
 */
export const DiskEvent = Type.Object({
  type: OrNull(Type.String()),
  used: Type.Integer(),
  limit: Type.Integer(),
})
export type DiskEvent = Type.Static<typeof DiskEvent>

/** Somebody acts for the reader from now on, until then at most; it stands in the list of their sessions, too. */
export const TakeoverEvent = Type.Object({
  /** The administrator's e-mail address. */
  by: Type.String(),
  reason: Type.String(),
  until: Instant,
})
export type TakeoverEvent = Type.Static<typeof TakeoverEvent>

/**
 * What was told before counts no more: how things are now follows, in a `container` for each that there is, a `launch` for
 * each that is under way, a `disk` for each limit that is nearly used up, and an `idle` for each that is about to be put to
 * rest. Sent to a page that is new, and to one that was away for too long to be told what it missed.
 */
export const SnapshotEvent = Type.Object({})

/** Events of `GET /api/container/events`, by name. */
export const containerEvents = {
  snapshot: SnapshotEvent,
  idle: IdleEvent,
  container: ContainerEvent,
  launch: LaunchEvent,
  disk: DiskEvent,
  takeover: TakeoverEvent,
} as const

/** `lines` of the past, 0 to 1000 (100 when absent). */
export const LogsQuery = Type.Object({ lines: Type.Optional(Type.String({ pattern: '^\\d{1,4}$' })) })

/** Events of `GET /api/container/logs/{container_type}`: a line, and that there will be no more. */
export const logEvents = {
  line: Type.Object({ text: Type.String() }),
  end: Type.Object({}),
} as const
