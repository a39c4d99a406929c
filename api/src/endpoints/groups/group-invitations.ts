import { endpoint, type Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import * as invitations from '../../schemas/groups/group-invitations.ts'
import { GroupParams } from '../../schemas/groups.ts'
import { Message } from '../../schemas/shapes.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody } as const
const writeRefusals = { ...refusals, 409: ErrorBody } as const
/** Managers of the group, administrators and the operator; no API token. */
const byManagers = { forOperator: true, params: GroupParams } as const

/** Members by list, and invitations to a group that are not accepted yet. */
export const groupInvitationsEndpoints = {
  previewMembers: endpoint('POST /api/groups/{id}/members/preview', 'user', {
    ...byManagers,
    summary: 'What adding addresses to a group will do; changes nothing; for its managers and administrators',
    body: invitations.PreviewMembersBody,
    response: invitations.PreviewMembersResponse,
    refusals: { 400: ErrorBody, ...writeRefusals },
  }),
  listGroupInvitations: endpoint('GET /api/groups/{id}/invitations', 'user', {
    ...byManagers,
    guarded: true,
    summary: 'Invitations to a group that are not accepted yet, page by page; for its managers and administrators',
    query: invitations.GroupInvitationsQuery,
    response: invitations.GroupInvitationsResponse,
    refusals: { 400: ErrorBody, ...refusals },
  }),
  withdrawGroupInvitation: endpoint('DELETE /api/groups/{id}/invitations/{invitation_id}', 'user', {
    ...byManagers,
    summary:
      'Withdraw an invitation to a group; the link of its mail opens an account without the group; for its managers and administrators',
    params: invitations.GroupInvitationParams,
    response: Message,
    refusals: writeRefusals,
  }),
  resendGroupInvitation: endpoint('POST /api/groups/{id}/invitations/{invitation_id}/resend', 'user', {
    ...byManagers,
    summary: 'Mail an invitation to a group again; for its managers and administrators',
    params: invitations.GroupInvitationParams,
    response: Message,
    refusals: { ...writeRefusals, 429: ErrorBody, 500: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
