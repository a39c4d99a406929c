import Type from 'typebox'
import { Instant, OrNull, onePlainLine } from './shapes.ts'

/** Any text: ids that are not 1 to 15 digits are answered with 404 by the handler. */
export const SessionParams = Type.Object({ id: Type.String() })

/** A session as its owner sees it; never a token or cookie of it, nor what names one. */
export const SessionEntry = Type.Object({
  id: Type.Integer(),
  created_at: Instant,
  last_used: Type.Unsafe<string>({ ...Instant, description: 'Last request, to the minute' }),
  expires_at: Type.Unsafe<string>({ ...Instant, description: 'When it ends if it is not used again' }),
  began: Type.String({ description: '`link`, or `oidc:` and the id of the provider' }),
  address: Type.String({ description: 'IP address of the sign-in; empty if unknown' }),
  browser: OrNull(Type.String(), { description: 'E.g. `Firefox on Windows`; null for an unknown client' }),
  is_current: Type.Boolean({ description: 'Whether it is the session of this request' }),
  taken_over_by: OrNull(Type.String(), {
    description: 'E-mail address of the administrator of a takeover; null for an own session',
  }),
  reason: OrNull(Type.String(), { description: 'Reason of the takeover' }),
  ended_at: OrNull(Instant, { description: 'When a takeover ended before its time' }),
})
export type SessionEntry = Type.Static<typeof SessionEntry>

/** Why an administrator acts for a user; shown to the owner and written to the audit log. No control characters. */
export const TakeoverBody = Type.Object({
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: `^${onePlainLine}$`,
    description: 'Shown to the user and recorded in the audit log',
  }),
  in_browser: Type.Optional(
    Type.Boolean({
      description:
        'Whether this browser is signed in as the user: its cookie is set, and the session of the administrator returns when the takeover ends. Otherwise only the answer carries the token',
    }),
  ),
})

export const SessionsResponse = Type.Object({ sessions: Type.Array(SessionEntry) })
export const EndOthersResponse = Type.Object({ message: Type.String(), ended: Type.Integer() })
