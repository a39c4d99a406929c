import Type from 'typebox'
import { Instant, OrNull } from './shapes.ts'

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

/** Nobody used it for so long that it is about to be put to rest; a minute before, or a quarter of its idle time. */
export const IdleEvent = Type.Object({
  type: Type.String(),
  action: Type.Union([Type.Literal('pause'), Type.Literal('stop')]),
  at: Instant,
})
export type IdleEvent = Type.Static<typeof IdleEvent>

/** Where a container stands from now on. */
export const ContainerEvent = Type.Object({
  type: Type.String(),
  status: Type.Union(
    (
      [
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
      ] as const
    ).map((word) => Type.Literal(word)),
  ),
})
export type ContainerEvent = Type.Static<typeof ContainerEvent>

/** Events of `GET /api/container/events`, by name. */
export const containerEvents = { idle: IdleEvent, container: ContainerEvent } as const
