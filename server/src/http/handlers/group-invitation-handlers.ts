import type { GroupInvitation } from '@berth/api/schemas/groups/group-invitations.ts'
import { refusals } from '#/refusals/errors.ts'
import { invitationLifetime, type PendingInvitations, type PreviewMembers } from '#/groups/group-invitations.ts'
import type { Handlers } from './handler-types.ts'
import { readGroupId, readLimit } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { StoredInvitation } from '#/store/group-invitations.ts'
import { defaultPageSize } from './group-administration-handlers.ts'
import { managerOf } from './group-handlers.ts'

export interface GroupInvitationHandlerParts {
  readonly previewMembers: PreviewMembers
  readonly invitations: PendingInvitations
}

type Names = 'previewMembers' | 'listGroupInvitations' | 'withdrawGroupInvitation' | 'resendGroupInvitation'

/** Members by list, and invitations to a group. Rights are checked by the use cases. */
export function groupInvitationHandlers({
  previewMembers,
  invitations,
}: GroupInvitationHandlerParts): Pick<Handlers, Names> {
  return {
    previewMembers: async (call) => ({
      addresses: await previewMembers.run(managerOf(call), readGroupId(call.params.id), call.body.emails, call.now),
    }),
    listGroupInvitations: async (call) => {
      const { params, query } = call
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
      const { invitations: found, next } = await invitations.list(managerOf(call), readGroupId(params.id), page)
      return { invitations: found.map(toGroupInvitation), next_cursor: next === null ? null : String(next) }
    },
    withdrawGroupInvitation: async (call) => {
      const { id, invitation_id: invitationId } = call.params
      await invitations.withdraw(managerOf(call), readGroupId(id), readInvitationId(invitationId), call.now)
      return { message: localizedReply(call, message('groups.invitationWithdrawn')) }
    },
    resendGroupInvitation: async (call) => {
      const { id, invitation_id: invitationId } = call.params
      const report = (error: unknown) => call.request.log.error({ err: error }, 'an invitation to a group failed')
      const actor = managerOf(call)
      const email = await invitations.resend(actor, readGroupId(id), readInvitationId(invitationId), call.now, report)
      return { message: localizedReply(call, message('groups.invitationResent', { email })) }
    },
  }
}

const toGroupInvitation = ({ id, email, role, by, createdAt }: StoredInvitation): GroupInvitation => ({
  id,
  email,
  role,
  invited_by: by,
  created_at: createdAt.toISOString(),
  expires_at: new Date(createdAt.getTime() + invitationLifetime).toISOString(),
})

/** @throws {Refusal} 404 */
function readInvitationId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.groupNotFound('invitation')
  return Number(text)
}
