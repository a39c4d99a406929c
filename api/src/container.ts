import Type from 'typebox'
import { OrNull } from './shapes.ts'

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
