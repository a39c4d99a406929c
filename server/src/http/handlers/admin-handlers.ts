import type Type from 'typebox'
import type {
  AdminUser,
  BlockPreview,
  BulkUsersResponse,
  ContainersQuery,
  UsersQuery,
} from '@berth/api/schemas/administration/admin.ts'
import { localize } from '@berth/texts/localize.ts'
import { formatBytes, list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Actor, ClientInfo } from '#/accounts/actor.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { Admin, AdminContainerFilter, BulkUsersResult, Deleted, UserWithContainers } from '#/admin/open-admin.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { refusals } from '#/refusals/errors.ts'
import type { ListOrder, PageCursor, PageRequest } from '#/store/pagination.ts'
import type { UserFilter } from '#/store/users.ts'
import { actorOf, readId, readLimit, readLineCount, type Call, type Handlers, type HandlersParts } from './call.ts'
import { toAdminContainer, toAdminUser, toListedContainer } from './dto-serializers.ts'

/** Containers in one answer without `limit`. */
const defaultPageSize = 100

/** Users and containers, for administrators. */
export const adminHandlers = (parts: HandlersParts) => ({
  ...listHandlers(parts.admin),
  ...userDetailsHandlers(parts),
  ...blockUserHandlers(parts.admin),
  ...containerBlockingHandlers(parts.admin),
  ...containerSupportHandlers(parts.admin),
  ...roleHandlers(parts.admin),
  ...deletionHandlers(parts.admin),
  ...invitationHandlers(parts.accounts),
})

/** Lists of all users and containers, for administrators. */
export function listHandlers({ lists }: Pick<Admin, 'lists'>) {
  return {
    listUsers: async ({ query }) => {
      const { rows, next } = await lists.listUsers(pageOf(query), usersFilter(query))
      return { users: rows.map(toAdminUser), next_cursor: next && toCursor(query.sort ?? 'id', next) }
    },
    countUsers: async ({ query }) => ({ count: await lists.countUsers(usersFilter(query)) }),

    listAllContainers: async ({ query }) => {
      const { rows, next } = await lists.listContainers(pageOf(query, defaultPageSize), containersFilter(query))
      return { containers: rows.map(toListedContainer), next_cursor: next && toCursor(query.sort ?? 'id', next) }
    },
    countContainers: async ({ query }) => ({ count: await lists.countContainers(containersFilter(query)) }),
  } satisfies Partial<Handlers>
}

/** @throws {Refusal} 400 for an invalid limit or cursor */
function pageOf(
  { sort = 'id', cursor, limit }: { sort?: SortParameter; cursor?: string; limit?: string },
  defaultLimit?: number,
): PageRequest {
  return {
    order: toOrder(sort),
    limit: readLimit(limit, defaultLimit),
    after: cursor === undefined ? undefined : fromCursor(sort, cursor),
  }
}

function usersFilter({ q, state, is_admin, is_blocked }: Type.Static<typeof UsersQuery>): UserFilter {
  return { q, state, isAdmin: flag(is_admin), isBlocked: flag(is_blocked) }
}

function containersFilter({
  q,
  container_type,
  is_blocked,
  status,
}: Type.Static<typeof ContainersQuery>): AdminContainerFilter {
  return { q, type: container_type, isBlocked: flag(is_blocked), status }
}

/** One user with everything that the pages of the administration say of them. */
function userDetailsHandlers({ admin, accounts: { sessionList }, homes: { diskUse } }: HandlersParts) {
  return {
    readUser: async ({ params, now }) => {
      const { user, containers, groups } = await admin.lists.userDetails(readId(params.id, 'user'))
      const sessions = await sessionList.list(user.id, now)
      return {
        user: toAdminUser({ user, containers: containers.map(({ record }) => record) }),
        containers: containers.map((row) => {
          const space = diskUse.spaceOf(user, row.record.type)
          return { ...toListedContainer(row), ...(space && { home_bytes: space.used }) }
        }),
        groups,
        sessions: sessions
          .filter(({ endedAt, expiresAt }) => endedAt === null && expiresAt > now)
          .map(({ createdAt, lastUsed, browser, acting }) => ({
            created_at: createdAt.toISOString(),
            last_used: lastUsed.toISOString(),
            browser,
            taken_over_by: acting?.email ?? null,
          })),
      }
    },
  } satisfies Partial<Handlers>
}

const flag = (word: string | undefined) => (word === undefined ? undefined : word === 'true')

function invitationHandlers({ invite }: Accounts) {
  return {
    invite: async (call) => {
      const { emails, send = true, language } = call.body
      // The answer has links, which sign in; an API token may not.
      if (!send && call.session?.scopes) throw refusals.notForApiTokens()
      const actor = actorOf(call)
      const report = (error: unknown) => call.request.log.error({ err: error }, 'an invitation failed')
      const invitations = await invite.run(
        emails,
        send,
        { ...actor, language: language ?? actor.language },
        call.now,
        report,
      )
      const invited = invitations.filter(({ status }) => status === 'invited').length
      return {
        message: localizedReply(call, message('answers.invited', { invited, all: invitations.length })),
        invitations,
      }
    },
  } satisfies Partial<Handlers>
}

/** Blocking users with all their containers. */
function blockUserHandlers({ userBlocking: blocking, blockPreviews: previews }: Admin) {
  return {
    blockUser: changeUser((actor, id, now) => blocking.blockUser(actor, id, now), message('answers.userBlocked')),
    unblockUser: changeUser((actor, id, now) => blocking.unblockUser(actor, id, now), message('answers.userUnblocked')),

    bulkBlockUsers: async (call) => {
      const result = await blocking.blockUsers(actorOf(call), call.body.user_ids, call.now)
      return {
        message: localizedReply(call, message('answers.usersBlocked', { count: result.users.length })),
        ...toBulkUsers(result, call.client),
      }
    },
    bulkUnblockUsers: async (call) => {
      const result = await blocking.unblockUsers(actorOf(call), call.body.user_ids, call.now)
      return {
        message: localizedReply(call, message('answers.usersUnblocked', { count: result.users.length })),
        ...toBulkUsers(result, call.client),
      }
    },

    previewBlock: async (call): Promise<BlockPreview> => {
      const id = readId(call.params.id, 'user')
      const { sessions, containers } = await previews.preview(actorOf(call), id, call.now)
      return {
        sessions,
        containers: containers.map(({ record, isRunning }) => ({
          id: record.id,
          container_type: record.type,
          is_running: isRunning,
          is_blocked: record.blockSource === 'container',
        })),
      }
    },
  } satisfies Partial<Handlers>
}

function toBulkUsers(
  { users, refused, notFound }: BulkUsersResult,
  { language }: Pick<ClientInfo, 'language'>,
): Omit<BulkUsersResponse, 'message'> {
  return {
    users: users.map(toAdminUser),
    not_found: notFound,
    refused: refused.map(({ id, refusal }) => ({ id, error: localize(language, refusal.sentence) })),
  }
}

/** Role and verification of a user. */
function roleHandlers({ rights, extraDisk, verification }: Admin) {
  return {
    promoteUser: changeUser((actor, id, now) => rights.promote(actor, id, now), message('answers.promoted')),
    demoteUser: changeUser((actor, id, now) => rights.demote(actor, id, now), message('answers.demoted')),

    setExtraDisk: async (call) => {
      const { bytes } = call.body
      const user = await extraDisk.set(actorOf(call), readId(call.params.id, 'user'), bytes, call.now)
      const done =
        bytes === 0 ? message('answers.extraDiskTaken') : message('answers.extraDiskSet', { size: formatBytes(bytes) })
      return { message: localizedReply(call, done), user: toAdminUser(user) }
    },

    resendVerificationTo: async (call) => {
      const email = await verification.run(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: localizedReply(call, message('answers.linkSentTo', { email })) }
    },
  } satisfies Partial<Handlers>
}

type ChangeCall = Call<'promoteUser'> | Call<'demoteUser'> | Call<'blockUser'> | Call<'unblockUser'>

/**
 * Handler that changes the user whom the path names, and answers what was done and the user afterwards.
 * @param change makes it @param done what was done
 */
const changeUser =
  (change: (actor: Actor, id: number, now: Date) => Promise<UserWithContainers>, done: LocalizedMessage) =>
  async (call: ChangeCall): Promise<{ message: string; user: AdminUser }> => {
    const user = await change(actorOf(call), readId(call.params.id, 'user'), call.now)
    return { message: localizedReply(call, done), user: toAdminUser(user) }
  }

/** What administrators do with the container of a user who asks for help. */
function containerSupportHandlers({ containerSupport: support }: Pick<Admin, 'containerSupport'>) {
  return {
    stopContainer: async (call) => {
      const { container, wasRunning } = await support.stop(actorOf(call), readId(call.params.id, 'container'), call.now)
      const words = message(wasRunning ? 'answers.containerStopped' : 'answers.containerDidNotRun')
      return { message: localizedReply(call, words), container: toAdminContainer(container) }
    },
    restartUserContainer: async (call) => {
      await support.restart(actorOf(call), readId(call.params.id, 'container'), call.now)
      return { message: localizedReply(call, message('groups.restarting')) }
    },
    readContainerLogs: async (call) => {
      const [id, count] = [readId(call.params.id, 'container'), readLineCount(call.query.lines)]
      return { lines: [...(await support.readLogs(actorOf(call), id, count, call.now))] }
    },
  } satisfies Partial<Handlers>
}

/** Blocking one container or several. */
function containerBlockingHandlers({ containerBlocking: blocking }: Pick<Admin, 'containerBlocking'>) {
  return {
    blockContainer: async (call) => {
      const container = await blocking.blockContainer(actorOf(call), readId(call.params.id, 'container'), call.now)
      return {
        message: localizedReply(call, message('answers.containerBlocked')),
        container: toAdminContainer(container),
      }
    },
    unblockContainer: async (call) => {
      const container = await blocking.unblockContainer(actorOf(call), readId(call.params.id, 'container'), call.now)
      return {
        message: localizedReply(call, message('answers.containerUnblocked')),
        container: toAdminContainer(container),
      }
    },

    bulkBlockContainers: async (call) => {
      const { containers, notFound } = await blocking.blockContainers(actorOf(call), call.body.container_ids, call.now)
      return {
        message: localizedReply(call, message('answers.containersBlocked', { count: containers.length })),
        containers: containers.map(toAdminContainer),
        not_found: notFound,
      }
    },
    bulkUnblockContainers: async (call) => {
      const { containers, notFound } = await blocking.unblockContainers(
        actorOf(call),
        call.body.container_ids,
        call.now,
      )
      return {
        message: localizedReply(call, message('answers.containersUnblocked', { count: containers.length })),
        containers: containers.map(toAdminContainer),
        not_found: notFound,
      }
    },
  } satisfies Partial<Handlers>
}

function deletionHandlers({ deletion }: Admin) {
  return {
    deleteUser: async (call) => {
      const id = readId(call.params.id, 'user')
      const deleted = await deletion.deleteUser(actorOf(call), id, call.query.purge === 'true', call.now)
      return { message: localizedReply(call, message('answers.userDeleted', { rest: whatIsLeft(deleted) })) }
    },
    deleteContainer: async (call) => {
      const id = readId(call.params.id, 'container')
      const deleted = await deletion.deleteContainer(actorOf(call), id, call.query.purge === 'true', call.now)
      const kept = deleted.homeKeptFor
      const home = kept.length === 0 ? '' : message('answers.homeKept', { types: list('comma', kept) })
      return { message: localizedReply(call, message('answers.containerDeleted', { home, rest: whatIsLeft(deleted) })) }
    },
  } satisfies Partial<Handlers>
}

const whatIsLeft = ({ isFinished }: Deleted) => (isFinished ? '' : message('answers.engineIsLate'))

/** Orders of lists, as in `ListOrder` of the API. */
type SortParameter = ListOrder['by'] | `-${ListOrder['by']}`

function toOrder(word: SortParameter): ListOrder {
  const isDescending = word.startsWith('-')
  return { by: (isDescending ? word.slice(1) : word) as ListOrder['by'], isDescending }
}

/**
 * Cursor of the next page, opaque to the client: the id alone in the order by id; in other orders also the value of the
 * column, and the order, so that a cursor of another order is refused.
 */
function toCursor(word: SortParameter, { value, id }: PageCursor): string {
  return word === 'id' ? String(id) : Buffer.from(JSON.stringify([word, value, id])).toString('base64url')
}

/** @param cursor as matched by `Cursor` of the API @throws {Refusal} 400 when it is not from a page in this order */
function fromCursor(word: SortParameter, cursor: string): PageCursor {
  const end = word === 'id' ? ofId(cursor) : decodeCursor(word, cursor)
  if (!end) throw refusals.badRequest(message('requests.foreignCursor'))
  return end
}

const ofId = (text: string): PageCursor | undefined =>
  /^\d{1,15}$/.test(text) ? { value: null, id: Number(text) } : undefined

function decodeCursor(word: SortParameter, text: string): PageCursor | undefined {
  const [itsWord, value, id] = asArray(Buffer.from(text, 'base64url').toString())
  if (itsWord !== word || !Number.isSafeInteger(id) || !fits(toOrder(word), value)) return undefined
  return { value, id: id as number } as PageCursor
}

function asArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function fits({ by }: ListOrder, value: unknown): boolean {
  if (by === 'id') return value === null
  if (by === 'email') return typeof value === 'string'
  return Number.isSafeInteger(value) || (by === 'last_used' && value === null)
}
