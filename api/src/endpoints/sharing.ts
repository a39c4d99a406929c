import { endpoint, type Endpoint } from '../endpoint.ts'
import { TypeParams } from '../schemas/container.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'
import * as sharing from '../schemas/features/sharing.ts'

/** Sharing of containers by their owners: no API token shares, because a share opens files and programs to others. */
export const sharingEndpoints = {
  listShares: endpoint('GET /api/container/shares/{container_type}', 'containers:read', {
    guarded: true,
    summary: 'Shares of the container of this type, and who has it open by them now',
    params: TypeParams,
    response: sharing.SharesResponse,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody },
  }),
  shareContainer: endpoint('POST /api/container/shares/{container_type}', 'user', {
    summary: 'Let others look at the container of this type, or use it, until a date',
    params: TypeParams,
    body: sharing.ShareBody,
    response: Message,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  endShare: endpoint('DELETE /api/container/shares/{container_type}/{id}', 'user', {
    summary: 'End a share; what its visitors have open is closed',
    params: sharing.ShareParams,
    response: Message,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
  listSharedContainers: endpoint('GET /api/user/shared', 'containers:read', {
    guarded: true,
    anyNode: true,
    summary: 'Containers of other users that are shared with the signed-in user',
    response: sharing.SharedContainersResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
  listAllShares: endpoint('GET /api/admin/shares', 'admin:read', {
    summary: 'Shares of all users, or of one, page by page',
    query: sharing.AdminSharesQuery,
    response: sharing.AdminSharesResponse,
    refusals: { 400: ErrorBody },
  }),
  revokeShare: endpoint('DELETE /api/admin/shares/{id}', 'admin:write', {
    summary: 'End a share of any user; what its visitors have open is closed',
    params: sharing.AdminShareParams,
    response: Message,
    refusals: { 404: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
