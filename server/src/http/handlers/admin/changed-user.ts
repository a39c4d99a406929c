import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { UserWithContainers } from '#/administration/admin-lists.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import type { LocalizedMessage } from '#/messages/localized-message.ts'
import { toAdminUser } from '../dto-serializers.ts'

/** Response to a change of a user: what was done, and the user afterwards. */
export function toChangedUser(
  call: Parameters<typeof localizedReply>[0],
  done: LocalizedMessage,
  user: UserWithContainers,
): { message: string; user: AdminUser } {
  return { message: localizedReply(call, done), user: toAdminUser(user) }
}
