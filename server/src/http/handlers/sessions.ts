import type { SessionEntry } from '@berth/api/sessions.ts'
import type { Owner, SessionList } from '#/accounts/session-list.ts'
import { tokenCookies, type CookieSettings } from '#/http/cookie.ts'
import type { Call, Handlers } from '#/http/handlers.ts'
import { readId } from '#/http/read-id.ts'
import { ownSessionOf, sessionOf, userOf } from '#/http/session-of.ts'
import { told } from '#/http/told.ts'
import { message } from '#/messages/message.ts'
import type { StoredSession } from '#/store/sessions.ts'

export interface SessionParts {
  readonly sessionList: SessionList
  readonly cookie: CookieSettings
}

type SessionNames = 'listSessions' | 'endSession' | 'endOtherSessions'

export function sessionHandlers({ sessionList, cookie }: SessionParts): Pick<Handlers, SessionNames> {
  return {
    listSessions: async (call) => {
      const { id } = userOf(call)
      const { jti } = sessionOf(call).claims
      const sessions = await sessionList.list(id, call.now)
      return { sessions: sessions.map((each) => toEntry(each, jti)) }
    },
    endSession: async (call) => {
      const owner = ownerOf(call)
      const { jti } = ownSessionOf(call).claims
      const ended = await sessionList.end(owner, readId(call.params.id, 'session'), call.now)
      if (ended.jti === jti)
        void call.reply.header('set-cookie', tokenCookies(undefined, call.request.headers.host, cookie))
      return { message: told(call, message('answers.sessionEnded')) }
    },
    endOtherSessions: async (call) => {
      const owner = ownerOf(call)
      const ended = await sessionList.endOthers(owner, ownSessionOf(call).claims, call.now)
      return { message: told(call, message('answers.sessionsEnded', { count: ended })), ended }
    },
  }
}

function ownerOf(call: Call<SessionNames>): Owner {
  const { id, email } = userOf(call)
  return { id, email, address: call.requester.address }
}

function toEntry(session: StoredSession, currentJti: string): SessionEntry {
  return {
    id: session.id,
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    address: session.address,
    browser: session.browser,
    is_current: session.jti === currentJti,
    taken_over_by: session.acting?.email ?? null,
    reason: session.acting?.reason ?? null,
    ended_at: session.endedAt?.toISOString() ?? null,
  }
}
