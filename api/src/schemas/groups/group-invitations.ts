import Type from 'typebox'
import { GroupRole, MemberName, maxEmails } from '../groups.ts'
import { Instant, OneOf, OrNull } from '../shapes.ts'

/** Members by list: what an addition will do, and invitations that are not accepted yet. */

export const PreviewMembersBody = Type.Object({
  emails: Type.Array(Type.String(), { minItems: 1, maxItems: maxEmails }),
})
/** What an addition of an address will do. */
export const MemberPrediction = Type.Object({
  email: Type.String({ description: 'As it was sent' }),
  effect: OneOf(['join', 'invite', 'member', 'invited', 'invalid', 'not_allowed'], {
    description:
      '`join`: has an account, and becomes a member; `invite`: gets a mail; `member`: is one already; `invited`: was invited, and gets another mail; `invalid`: no e-mail address; `not_allowed`: its domain may not sign up',
  }),
})
export type MemberPrediction = Type.Static<typeof MemberPrediction>
export const PreviewMembersResponse = Type.Object({
  addresses: Type.Array(MemberPrediction, { description: 'In the order in which they were sent' }),
})

export const GroupInvitation = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  name: MemberName,
  role: GroupRole,
  invited_by: Type.String({ description: 'Address of the user, or `user:{id}` when the account is deleted' }),
  created_at: Instant,
  expires_at: Type.String({ format: 'date-time', description: 'From then on the invitation is forgotten' }),
})
export type GroupInvitation = Type.Static<typeof GroupInvitation>
export const GroupInvitationsQuery = Type.Object({
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })),
})
export const GroupInvitationsResponse = Type.Object({
  invitations: Type.Array(GroupInvitation, { description: 'Not accepted yet, oldest first' }),
  next_cursor: OrNull(Type.String()),
})
export type GroupInvitationsResponse = Type.Static<typeof GroupInvitationsResponse>
export const GroupInvitationParams = Type.Object({ id: Type.String(), invitation_id: Type.String() })
