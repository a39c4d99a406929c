import type { Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import * as invitations from '../../schemas/groups/group-invitations.ts'
import { GroupParams } from '../../schemas/groups.ts'
import { Message } from '../../schemas/shapes.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody } as const
const writeRefusals = { ...refusals, 409: ErrorBody } as const
/** Managers of the group, administrators and the operator; no API token. */
const byManagers = { access: 'user', forOperator: true, params: GroupParams } as const

/** Members by list, and invitations to a group that are not accepted yet. */
export const groupInvitationsEndpoints = {
  previewMembers: {
    ...byManagers,
    method: 'POST',
    path: '/api/groups/{id}/members/preview',
    summary: 'What adding addresses to a group will do; changes nothing; for its managers and administrators',
    body: invitations.PreviewMembersBody,
    response: invitations.PreviewMembersResponse,
    refusals: { 400: ErrorBody, ...writeRefusals },
  },
  listGroupInvitations: {
    ...byManagers,
    method: 'GET',
    path: '/api/groups/{id}/invitations',
    guarded: true,
    summary: 'Invitations to a group that are not accepted yet, page by page; for its managers and administrators',
    query: invitations.GroupInvitationsQuery,
    response: invitations.GroupInvitationsResponse,
    refusals: { 400: ErrorBody, ...refusals },
  },
  withdrawGroupInvitation: {
    ...byManagers,
    method: 'DELETE',
    path: '/api/groups/{id}/invitations/{invitation_id}',
    summary:
      'Withdraw an invitation to a group; the link of its mail opens an account without the group; for its managers and administrators',
    params: invitations.GroupInvitationParams,
    response: Message,
    refusals: writeRefusals,
  },
  resendGroupInvitation: {
    ...byManagers,
    method: 'POST',
    path: '/api/groups/{id}/invitations/{invitation_id}/resend',
    summary: 'Mail an invitation to a group again; for its managers and administrators',
    params: invitations.GroupInvitationParams,
    response: Message,
    refusals: { ...writeRefusals, 429: ErrorBody, 500: ErrorBody },
  },
} as const satisfies Record<string, Endpoint>
