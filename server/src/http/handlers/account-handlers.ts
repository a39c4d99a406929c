import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import type { SessionEntry } from '@berth/api/schemas/sessions.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { formatBytes, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { Containers, HomeFault } from '#/containers/open-containers.ts'
import { statusWords, type ListedContainer, type StatusLookup } from '#/containers/routes/own-containers.ts'
import { signOutLines, type CookieSettings } from '#/http/auth/browser-session.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import type { StoredSession } from '#/store/sessions.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import { actorOf, ownSessionOf, ownerOf, readId, sessionOf, userOf, type Handlers } from './call.ts'
import { toContainerEntry, toUser } from './dto-serializers.ts'

export interface UserParts {
  readonly containers: Pick<Containers, 'ownContainers'>
  readonly spawnerUrl: string
  readonly measured: Measured
}

/** What the last measurements say of the containers of a user. */
export interface Measured {
  /** Bytes of a container by the engine's id; undefined where it is not measured. */
  memoryOf(containerId: string): number | undefined
  /** Bytes of a home, and the limit of it alone; undefined where it is not measured. */
  spaceOf(user: Pick<User, 'id' | 'slug'>, type: string): ContainerEntry['disk']
}

export function userHandlers({ containers, spawnerUrl, measured }: UserParts) {
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
      const listed = await ownContainers.list(user, call.now)
      return {
        containers: listed.map((each) => {
          const record = each.template.home === null ? undefined : each.record
          const problem = record && homeProblemOf(record, each.homeFault)
          const sentence = problem && localizedReply(call, problem)
          const used = isUp(each.status) ? null : (each.record?.fullLayer ?? null)
          return {
            ...toContainerEntry(spawnerUrl, user.slug, each),
            ...measurementsOf(measured, user, each),
            ...(sentence && { home_problem: sentence }),
            ...(used !== null && {
              layer_problem: localizedReply(call, message('launches.fullLayer', { used: formatBytes(used) })),
            }),
            ...(each.endedGroup !== undefined && {
              launch_refused: localizedReply(call, message('groups.expired', { group: each.endedGroup })),
            }),
          }
        }),
      }
    },
  } satisfies Partial<Handlers>
}

const isUp = (status: string) => status === 'running' || status === 'paused'

const homeFaults = { silent: 'launches.homeSilent', stale: 'launches.homeStale' } as const

/** Why a program cannot use its home, and what to do about it; null when nothing is known to be wrong. */
function homeProblemOf({ id, homeProblem }: UserContainer, fault: HomeFault | undefined): LocalizedMessage | null {
  if (fault) return message(homeFaults[fault])
  return homeProblem && message('launches.homeNotWritable', { ...homeProblem, id: String(id) })
}

/** Memory of what runs or is paused, and the home of what was launched. */
function measurementsOf(
  measured: Measured,
  user: User,
  { template, record, status }: ListedContainer,
): Pick<ContainerEntry, 'memory' | 'disk'> {
  const id = isUp(status) ? record?.containerId : undefined
  const used = id ? measured.memoryOf(id) : undefined
  const disk = template.home === null || !record ? undefined : measured.spaceOf(user, template.type)
  return { ...(used !== undefined && { memory: { used, limit: template.memory } }), ...(disk && { disk }) }
}

function statusOf(lookup: StatusLookup | undefined): string {
  if (!lookup) return statusWords.unknown
  return 'failure' in lookup ? statusWords.error : lookup.state
}

export function sessionHandlers({ sessionList }: Accounts, cookie: CookieSettings) {
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
  } satisfies Partial<Handlers>
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
export function personalDataHandlers({ personalData }: Accounts) {
  return {
    exportOwnData: async (call) => {
      ownSessionOf(call)
      return streamed(call.reply, await personalData.export(userOf(call).id, call.now))
    },
    exportUserData: async (call) => {
      const id = readId(call.params.id, 'user')
      return streamed(call.reply, await personalData.exportFor(actorOf(call), id, call.now))
    },
  } satisfies Partial<Handlers>
}

/** Pieces of JSON are sent as they are read; the schema of the answer describes what they mean. */
function streamed(reply: FastifyReply, pieces: AsyncGenerator<string>): PersonalDataResponse {
  void reply.type('application/json; charset=utf-8')
  return Readable.from(pieces, { objectMode: false }) as unknown as PersonalDataResponse
}
