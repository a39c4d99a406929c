import Type from 'typebox'

/** Every refusal, from any path under `/api`: a sentence for a person. Source: specification, Errors. */
export const ErrorBody = Type.Object({ error: Type.String() })
export type ErrorBody = Type.Static<typeof ErrorBody>

/**
 * Header of a refusal: its name in the vocabulary (`docs/reference/errors.md`), for who has to tell one from another. Sentences are
 * in the reader's language.
 */
export const refusalHeader = 'berth-refusal'

/**
 * As above; when it was refused because of a block it says since when, if that is known. Source: specification, launch
 * rule 2. Optional, because there are other reasons for 403 on the same endpoint.
 */
export const BlockedBody = Type.Object({
  error: Type.String(),
  blocked_at: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})
export type BlockedBody = Type.Static<typeof BlockedBody>

/**
 * Of a launch that failed: why, as far as it is known, for the owner to act on. `reason` is one of the words of a
 * `launch` event; the rest is there when a program was started and ended.
 */
export const LaunchFailedBody = Type.Object({
  error: Type.String(),
  reason: Type.Optional(Type.String()),
  exit_code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  is_out_of_memory: Type.Optional(Type.Boolean()),
  last_lines: Type.Optional(Type.Array(Type.String())),
})
export type LaunchFailedBody = Type.Static<typeof LaunchFailedBody>

/** Of a launch for which a limit of a group leaves no room. */
export const GroupLimitBody = Type.Object({
  error: Type.String(),
  reason: Type.Optional(Type.String()),
  limit: Type.Optional(Type.String({ description: '`running`, `memory`, `cpus` or `disk`' })),
  group: Type.Optional(Type.String({ description: 'Name of the group' })),
})
