import Type from 'typebox'
import { Instant } from './shapes.ts'

/** A link for somebody whom mail does not reach; it is shown once, and nowhere else. */
export const PrintedLink = Type.Object({
  link: Type.String(),
  /** `signup` for who never verified their address. */
  purpose: Type.Union([Type.Literal('signup'), Type.Literal('login')]),
  expires_at: Instant,
})
export type PrintedLink = Type.Static<typeof PrintedLink>

/** `retired` keys are accepted until then, when their last tokens have expired. */
export const KeysRotated = Type.Object({
  message: Type.String(),
  kid: Type.String(),
  retired: Type.Array(Type.Object({ kid: Type.String(), until: Instant })),
})
