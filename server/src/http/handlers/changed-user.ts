import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { UserWithContainers } from '#/admin/admin-lists.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { toAdminUser } from './dto-serializers.ts'
import type { Call } from './handler-types.ts'
import { readId } from './request-parameters.ts'

type ChangeCall = Call<'promoteUser'> | Call<'demoteUser'> | Call<'blockUser'> | Call<'unblockUser'>

/**
 * Handler that changes the user whom the path names, and answers what was done and the user afterwards.
 * @param change makes it @param done what was done
 */
export const changeUser =
  (change: (actor: Actor, id: number, now: Date) => Promise<UserWithContainers>, done: LocalizedMessage) =>
  async (call: ChangeCall): Promise<{ message: string; user: AdminUser }> => {
    const user = await change(actorOf(call), readId(call.params.id, 'user'), call.now)
    return { message: localizedReply(call, done), user: toAdminUser(user) }
  }
