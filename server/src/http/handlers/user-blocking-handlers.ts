import type { ClientInfo } from '#/accounts/actor.ts'
import type { BlockPreview, BulkUsersResponse } from '@berth/api/schemas/administration/admin.ts'
import type { BlockPreviews, BulkUsersResult, UserBlocking } from '#/admin/blocking.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { toAdminUser } from './dto-serializers.ts'
import { changeUser } from './changed-user.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'

export interface BlockUserParts {
  readonly blocking: UserBlocking
  readonly previews: BlockPreviews
}

type BlockUsers = 'blockUser' | 'unblockUser' | 'bulkBlockUsers' | 'bulkUnblockUsers' | 'previewBlock'

/** Blocking users with all their containers. */
export function blockUserHandlers({ blocking, previews }: BlockUserParts): Pick<Handlers, BlockUsers> {
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
  }
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
