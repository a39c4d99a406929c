import Type from 'typebox'

/** Every refusal, from any path under `/api`: a sentence for a person. Source: specification, Errors. */
export const ErrorBody = Type.Object({ error: Type.String() })
export type ErrorBody = Type.Static<typeof ErrorBody>

/** Refused because of a block: says since when, when that is known. Source: specification, launch rule 2. */
export const BlockedBody = Type.Object({
  error: Type.String(),
  blocked_at: Type.Union([Type.String(), Type.Null()]),
})
export type BlockedBody = Type.Static<typeof BlockedBody>
