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
