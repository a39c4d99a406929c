import { isRenewalDue, type SessionLifetimes } from '#/accounts/sessions/begin-session.ts'
import type { HttpParts } from '../server.ts'

/** Why a reader does not answer a request that another node has to. */
class LeadersToAnswer extends Error {}

/** Notes which sessions were used. */
export interface NoteUse {
  /** @param at ms since 1970 */
  noteUse(sid: string, at: number): void
}

/** Sessions at the reader of a follower: what has to be written because of one is the leader's to answer. */
export function readerSession(
  uses: NoteUse,
  lifetimes: Pick<SessionLifetimes, 'isRenewed'>,
): Pick<HttpParts, 'apiTokens' | 'renewal'> {
  return {
    apiTokens: { authenticate: () => Promise.reject(new LeadersToAnswer('the use of an API token is written')) },
    renewal: {
      keep: async ({ claims, via }, { now }) => {
        if (claims.acting !== null) throw new LeadersToAnswer('a takeover')
        if (via === 'cookie' && isRenewalDue(claims, lifetimes, now)) throw new LeadersToAnswer('a token is renewed')
        uses.noteUse(claims.sid, now.getTime())
      },
    },
  }
}
