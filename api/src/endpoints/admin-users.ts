import type { Endpoint } from '../endpoint.ts'
import * as admin from '../schemas/admin.ts'
import * as auth from '../schemas/auth.ts'
import * as invitations from '../schemas/invitations.ts'
import * as sessions from '../schemas/sessions.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

const adminRefusals = { 404: ErrorBody } as const

/** Administration of accounts. */
export const adminUsersEndpoints = {
  listUsers: {
    method: 'GET',
    path: '/api/admin/users',
    access: 'admin',
    summary: 'Users with their containers, page by page',
    query: admin.UsersQuery,
    response: admin.UsersResponse,
    refusals: { 400: ErrorBody },
  },
  countUsers: {
    method: 'GET',
    path: '/api/admin/users/count',
    access: 'admin',
    summary: 'Number of users that match the filters',
    query: admin.UsersCountQuery,
    response: admin.CountResponse,
    refusals: { 400: ErrorBody },
  },
  invite: {
    method: 'POST',
    path: '/api/admin/invitations',
    access: 'admin',
    summary: 'Register addresses and mail each a signup link, or return the links',
    body: invitations.InvitationsBody,
    response: invitations.InvitationsResponse,
    refusals: { 400: ErrorBody },
  },
  previewBlock: {
    method: 'GET',
    path: '/api/admin/users/{id}/block-preview',
    access: 'admin',
    summary: 'Preview of the effects of blocking a user',
    params: admin.IdParams,
    response: admin.BlockPreview,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  },
  blockUser: {
    method: 'POST',
    path: '/api/admin/users/{id}/block',
    access: 'admin',
    summary: 'Block a user and all their containers',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  },
  unblockUser: {
    method: 'POST',
    path: '/api/admin/users/{id}/unblock',
    access: 'admin',
    summary: 'Unblock a user and the containers that the cascade blocked',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: adminRefusals,
  },
  bulkBlockUsers: {
    method: 'POST',
    path: '/api/admin/users/bulk-block',
    access: 'admin',
    summary: 'Block several users and all their containers',
    body: admin.BulkUsersBody,
    response: admin.BulkUsersResponse,
    refusals: { 400: ErrorBody },
  },
  bulkUnblockUsers: {
    method: 'POST',
    path: '/api/admin/users/bulk-unblock',
    access: 'admin',
    summary: 'Unblock several users and the containers that the cascade blocked',
    body: admin.BulkUsersBody,
    response: admin.BulkUsersResponse,
    refusals: { 400: ErrorBody },
  },
  promoteUser: {
    method: 'POST',
    path: '/api/admin/users/{id}/promote',
    access: 'admin',
    summary: 'Make a user an administrator',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: adminRefusals,
  },
  demoteUser: {
    method: 'POST',
    path: '/api/admin/users/{id}/demote',
    access: 'admin',
    summary: 'Make an administrator an ordinary user again',
    params: admin.IdParams,
    response: admin.UserResponse,
    refusals: { 404: ErrorBody, 409: ErrorBody },
  },
  resendVerificationTo: {
    method: 'POST',
    path: '/api/admin/users/{id}/resend-verification',
    access: 'admin',
    summary: 'Mail another signup link to a user who never verified their address',
    params: admin.IdParams,
    response: Message,
    refusals: { 404: ErrorBody, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  },
  takeOver: {
    method: 'POST',
    path: '/api/admin/users/{id}/takeover',
    access: 'admin',
    summary: 'Act for a user for at most 15 minutes (takeover); the user is notified of it with its reason',
    params: admin.IdParams,
    body: sessions.TakeoverBody,
    response: auth.AuthResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  },
  deleteUser: {
    method: 'DELETE',
    path: '/api/admin/users/{id}',
    access: 'admin',
    summary: 'Delete an account and its containers; its homes are kept for `KEEP_HOMES` unless purged',
    params: admin.IdParams,
    query: admin.PurgeQuery,
    response: Message,
    refusals: { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  },
} as const satisfies Record<string, Endpoint>
