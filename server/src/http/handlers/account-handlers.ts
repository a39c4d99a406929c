import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import type { SessionEntry } from '@berth/api/schemas/sessions.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { statusWords, type StatusLookup } from '#/containers/routes/own-containers.ts'
import { signOutLines, type CookieSettings } from '#/http/auth/browser-session.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import type { StoredSession } from '#/store/sessions.ts'
import { actorOf, ownSessionOf, ownerOf, readId, sessionOf, userOf, type Handlers } from './call.ts'
import { toContainerEntry, toUser } from './dto-serializers.ts'

export interface UserParts {
  readonly containers: Pick<Containers, 'ownContainers'>
  readonly spawnerUrl: string
}

export function userHandlers({ containers, spawnerUrl }: UserParts): Pick<Handlers, 'me' | 'listContainers'> {
  const { ownContainers } = containers
  return {
    me: async (call) => {
      const user = userOf(call)
      const { record, lookup } = await ownContainers.primary(user.id)
      return {
        user: {
          ...toUser(user),
          last_used: user.lastUsed?.toISOString() ?? null,
          created_at: user.createdAt.toISOString(),
        },
        container: {
          id: record?.containerId ?? null,
          port: record?.port ?? null,
          status: statusOf(lookup),
          service_url: `${spawnerUrl}/${user.slug}`,
        },
      }
    },

    listContainers: async (call) => {
      const user = userOf(call)
      const listed = await ownContainers.list(user)
      return {
        containers: listed.map((each) => {
          const record = each.template.home === null ? undefined : each.record
          const problem = record?.homeProblem && { ...record.homeProblem, id: String(record.id) }
          const sentence = problem && localizedReply(call, message('launches.homeNotWritable', problem))
          return { ...toContainerEntry(spawnerUrl, user.slug, each), ...(sentence && { home_problem: sentence }) }
        }),
      }
    },
  }
}

function statusOf(lookup: StatusLookup | undefined): string {
  if (!lookup) return statusWords.unknown
  return 'failure' in lookup ? statusWords.error : lookup.state
}

type SessionNames = 'listSessions' | 'endSession' | 'endOtherSessions'

export function sessionHandlers({ sessionList }: Accounts, cookie: CookieSettings): Pick<Handlers, SessionNames> {
  return {
    listSessions: async (call) => {
      const { id } = userOf(call)
      const { sid } = sessionOf(call).claims
      const sessions = await sessionList.list(id, call.now)
      return { sessions: sessions.map((each) => toSessionEntry(each, sid)) }
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

function toSessionEntry(session: StoredSession, currentSid: string): SessionEntry {
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

/** What is kept about a user: for the user, and for the operator. */
export function personalDataHandlers({ personalData }: Accounts): Pick<Handlers, 'exportOwnData' | 'exportUserData'> {
  return {
    exportOwnData: async (call) => {
      ownSessionOf(call)
      return streamed(call.reply, await personalData.export(userOf(call).id, call.now))
    },
    exportUserData: async (call) => {
      const id = readId(call.params.id, 'user')
      return streamed(call.reply, await personalData.exportFor(actorOf(call), id, call.now))
    },
  }
}

/** Pieces of JSON are sent as they are read; the schema of the answer describes what they mean. */
function streamed(reply: FastifyReply, pieces: AsyncGenerator<string>): PersonalDataResponse {
  void reply.type('application/json; charset=utf-8')
  return Readable.from(pieces, { objectMode: false }) as unknown as PersonalDataResponse
}
