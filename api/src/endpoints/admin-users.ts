import { endpoint, type Endpoint } from '../endpoint.ts'
import * as admin from '../schemas/administration/admin.ts'
import * as auth from '../schemas/auth.ts'
import * as invitations from '../schemas/invitations.ts'
import * as sessions from '../schemas/sessions.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

const adminRefusals = { 404: ErrorBody } as const

/** Administration of accounts. */
export const adminUsersEndpoints = {
  listUsers: endpoint('GET /api/admin/users', 'admin:read', {
    anyNode: true,
    summary: 'Users with their containers, page by page',
    query: admin.UsersQuery,
    response: admin.UsersResponse,
    refusals: { 400: ErrorBody },
  }),
  countUsers: endpoint('GET /api/admin/users/count', 'admin:read', {
    anyNode: true,
    summary: 'Number of users that match the filters',
    query: admin.UsersCountQuery,
    response: admin.CountResponse,
    refusals: { 400: ErrorBody },
  }),
  readUser: endpoint('GET /api/admin/users/{id}', 'admin:read', {
    summary: 'A user with containers, groups and sessions',
    params: admin.IdParams,
    response: admin.UserDetails,
    refusals: { 404: ErrorBody },
  }),
  invite: endpoint('POST /api/admin/invitations', 'admin:write', {
    summary: 'Register addresses and mail each a signup link, or return the links',
    body: invitations.InvitationsBody,
    response: invitations.InvitationsResponse,
    refusals: { 400: ErrorBody },
  }),
  previewBlock: endpoint('GET /api/admin/users/{id}/block-preview', 'admin:read', {
    summary: 'Preview of the effects of blocking a user',
    params: admin.IdParams,
    response: admin.BlockPreview,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  }),
  blockUser: endpoint('POST /api/admin/users/{id}/block', 'admin:write', {
    summary: 'Block a user and all their containers',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  }),
  unblockUser: endpoint('POST /api/admin/users/{id}/unblock', 'admin:write', {
    summary: 'Unblock a user and the containers that the cascade blocked',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: adminRefusals,
  }),
  bulkBlockUsers: endpoint('POST /api/admin/users/bulk-block', 'admin:write', {
    summary: 'Block several users and all their containers',
    body: admin.BulkUsersBody,
    response: admin.BulkUsersResponse,
    refusals: { 400: ErrorBody },
  }),
  bulkUnblockUsers: endpoint('POST /api/admin/users/bulk-unblock', 'admin:write', {
    summary: 'Unblock several users and the containers that the cascade blocked',
    body: admin.BulkUsersBody,
    response: admin.BulkUsersResponse,
    refusals: { 400: ErrorBody },
  }),
  setExtraDisk: endpoint('POST /api/admin/users/{id}/extra-disk', 'admin:write', {
    summary: 'Let the homes of one user have more than the disk limits allow',
    params: admin.IdParams,
    body: admin.ExtraDiskBody,
    response: admin.UserResponse,
    refusals: adminRefusals,
  }),
  promoteUser: endpoint('POST /api/admin/users/{id}/promote', 'admin:write', {
    summary: 'Make a user an administrator',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: adminRefusals,
  }),
  demoteUser: endpoint('POST /api/admin/users/{id}/demote', 'admin:write', {
    summary: 'Make an administrator an ordinary user again',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  }),
  resendVerificationTo: endpoint('POST /api/admin/users/{id}/resend-verification', 'admin:write', {
    summary: 'Mail another signup link to a user who never verified their address',
    params: admin.IdParams,
    response: Message,
    refusals: { 404: ErrorBody, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  takeOver: endpoint('POST /api/admin/users/{id}/takeover', 'admin', {
    needsSession: true,
    summary: 'Act for a user for at most 15 minutes (takeover); the user is notified of it with its reason',
    params: admin.IdParams,
    body: sessions.TakeoverBody,
    response: auth.AuthResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  deleteUser: endpoint('DELETE /api/admin/users/{id}', 'admin:write', {
    summary: 'Delete an account and its containers; its homes are kept for `KEEP_HOMES` unless purged',
    params: admin.IdParams,
    query: admin.PurgeQuery,
    response: Message,
    refusals: { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
