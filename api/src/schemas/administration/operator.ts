import Type from 'typebox'
import { Instant } from '../shapes.ts'

/** A login link for a user without working mail; it is shown once, and nowhere else. */
export const PrintedLink = Type.Object({
  link: Type.String(),
  purpose: Type.Union([Type.Literal('signup'), Type.Literal('login')], {
    description: '`signup` for an account that was never verified',
  }),
  expires_at: Instant,
})
export type PrintedLink = Type.Static<typeof PrintedLink>

export const KeysRotated = Type.Object({
  message: Type.String(),
  kid: Type.String(),
  retired: Type.Array(Type.Object({ kid: Type.String(), until: Instant }), {
    description: 'Older keys, which are accepted until their last tokens have expired',
  }),
})
