import type { SessionEntry } from '@berth/api/schemas/sessions.ts'
import type { SessionList } from '#/accounts/sessions/session-list.ts'
import { signOutLines, type CookieSettings } from '#/http/auth/set-token-cookies.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { ownSessionOf, ownerOf, sessionOf, userOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
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
      const { sid } = sessionOf(call).claims
      const sessions = await sessionList.list(id, call.now)
      return { sessions: sessions.map((each) => toEntry(each, sid)) }
    },
    endSession: async (call) => {
      const owner = ownerOf(call)
      const { sid } = ownSessionOf(call).claims
      const ended = await sessionList.end(owner, readId(call.params.id, 'session'), call.now)
      if (ended.sid === sid) void call.reply.header('set-cookie', signOutLines(call.request.headers.host, cookie))
      return { message: localizedReply(call, message('answers.sessionEnded')) }
    },
    endOtherSessions: async (call) => {
      const owner = ownerOf(call)
      const ended = await sessionList.endOthers(owner, ownSessionOf(call).claims, call.now)
      return { message: localizedReply(call, message('answers.sessionsEnded', { count: ended })), ended }
    },
  }
}

function toEntry(session: StoredSession, currentSid: string): SessionEntry {
  return {
    id: session.id,
    created_at: session.createdAt.toISOString(),
    last_used: session.lastUsed.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    began: session.began,
    address: session.address,
    browser: session.browser,
    is_current: session.sid === currentSid,
    taken_over_by: session.acting?.email ?? null,
    reason: session.acting?.reason ?? null,
    ended_at: session.endedAt?.toISOString() ?? null,
  }
}
