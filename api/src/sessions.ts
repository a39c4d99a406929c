import Type from 'typebox'
import { Instant, OrNull } from './shapes.ts'

/** Any text: ids that are not 1 to 15 digits are answered with 404 by the handler. */
export const SessionParams = Type.Object({ id: Type.String() })

/** An access token that was handed out, as its owner sees it; never the token itself, nor what names it. */
export const SessionEntry = Type.Object({
  id: Type.Integer(),
  created_at: Instant,
  expires_at: Instant,
  /** IP address that it was handed out to; empty when it is not known. */
  address: Type.String(),
  /** e.g. `Firefox on Windows`; null when it is no browser that is known. */
  browser: OrNull(Type.String()),
  /** Whether it is the one that asks. */
  is_current: Type.Boolean(),
  /** E-mail address of the administrator who acts, or acted, for the owner; null for the owner's own. */
  taken_over_by: OrNull(Type.String()),
  /** Why, in the administrator's words. */
  reason: OrNull(Type.String()),
  /** When it was ended before its time. */
  ended_at: OrNull(Instant),
})
export type SessionEntry = Type.Static<typeof SessionEntry>

/** Why an administrator acts for somebody; the owner and the audit log are told. No control characters. */
export const TakeoverBody = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 500, pattern: '^\\P{Cc}*$' }),
  /**
   * Whether this browser is to be the user's from now on: its cookie is set, and the administrator's own session is kept
   * aside until the takeover ends. Without it only the answer carries the token.
   */
  in_browser: Type.Optional(Type.Boolean()),
})

export const SessionsResponse = Type.Object({ sessions: Type.Array(SessionEntry) })
export const EndOthersResponse = Type.Object({ message: Type.String(), ended: Type.Integer() })
