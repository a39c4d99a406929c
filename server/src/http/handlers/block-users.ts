import type { Requester } from '#/accounts/requester.ts'
import type { BlockPreview, BulkUsersResponse } from '@berth/api/admin.ts'
import { previewBlock } from '#/administration/block-preview.ts'
import type { BulkUsersResult, UserBlocking } from '#/administration/block-users.ts'
import type { ContainerStatuses } from '#/containers/container-statuses.ts'
import type { OwnedType } from '#/containers/owned-type.ts'
import type { Handlers } from '#/http/handlers.ts'
import { readId } from '#/http/read-id.ts'
import { actorOf } from '#/http/session-of.ts'
import { told } from '#/http/told.ts'
import { toAdminUser } from '#/http/wire.ts'
import { message } from '#/messages/message.ts'
import { say } from '#/messages/say.ts'
import type { Database } from '#/store/database.ts'

export interface BlockUserParts {
  readonly database: Pick<Database, 'db'>
  readonly blocking: UserBlocking
  readonly statuses: Pick<ContainerStatuses, 'of'>
}

type BlockUsers = 'blockUser' | 'unblockUser' | 'bulkBlockUsers' | 'bulkUnblockUsers' | 'previewBlock'

/** Blocking people with everything that is theirs. */
export function blockUserHandlers({ database, blocking, statuses }: BlockUserParts): Pick<Handlers, BlockUsers> {
  const isRunning = (owned: OwnedType) => ['running', 'paused'].includes(statuses.of(owned))
  return {
    blockUser: async (call) => {
      const blocked = await blocking.blockUser(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: told(call, message('answers.userBlocked')), user: toAdminUser(blocked) }
    },
    unblockUser: async (call) => {
      const unblocked = await blocking.unblockUser(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: told(call, message('answers.userUnblocked')), user: toAdminUser(unblocked) }
    },

    bulkBlockUsers: async (call) => {
      const result = await blocking.blockUsers(actorOf(call), call.body.user_ids, call.now)
      return {
        message: told(call, message('answers.usersBlocked', { count: result.users.length })),
        ...toBulkUsers(result, call.requester),
      }
    },
    bulkUnblockUsers: async (call) => {
      const result = await blocking.unblockUsers(actorOf(call), call.body.user_ids, call.now)
      return {
        message: told(call, message('answers.usersUnblocked', { count: result.users.length })),
        ...toBulkUsers(result, call.requester),
      }
    },

    previewBlock: async (call): Promise<BlockPreview> => {
      const id = readId(call.params.id, 'user')
      const { sessions, containers } = await previewBlock(database.db, actorOf(call), id, call.now, isRunning)
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
  }
}

function toBulkUsers(
  { users, refused, notFound }: BulkUsersResult,
  { language }: Pick<Requester, 'language'>,
): Omit<BulkUsersResponse, 'message'> {
  return {
    users: users.map(toAdminUser),
    not_found: notFound,
    refused: refused.map(({ id, refusal }) => ({ id, error: say(language, refusal.sentence) })),
  }
}
