import { endpoint, type Endpoint } from '../endpoint.ts'
import * as tokens from '../schemas/api-tokens.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

/** API tokens: one's own, and for administrators those of all users. No API token makes or removes its owner's tokens. */
export const apiTokenEndpoints = {
  listApiTokens: endpoint('GET /api/user/tokens', 'user', {
    guarded: true,
    anyNode: true,
    summary: 'API tokens of the signed-in user',
    response: tokens.ApiTokensResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
  createApiToken: endpoint('POST /api/user/tokens', 'user', {
    needsSession: true,
    summary: 'Make an API token; the answer is the only place that shows it',
    body: tokens.ApiTokenBody,
    response: tokens.CreatedApiToken,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  removeApiToken: endpoint('DELETE /api/user/tokens/{id}', 'user', {
    summary: 'Remove an API token of the signed-in user; it counts no more from then on',
    params: tokens.ApiTokenParams,
    response: Message,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
  listAllApiTokens: endpoint('GET /api/admin/tokens', 'admin:read', {
    anyNode: true,
    summary: 'API tokens of all users, or of one, newest first, page by page',
    query: tokens.AdminApiTokensQuery,
    response: tokens.AdminApiTokensResponse,
    refusals: { 400: ErrorBody },
  }),
  revokeApiToken: endpoint('DELETE /api/admin/tokens/{id}', 'admin:write', {
    summary: 'Remove an API token of any user',
    params: tokens.ApiTokenParams,
    response: Message,
    refusals: { 404: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
