import type Type from 'typebox'
import * as admin from './schemas/admin.ts'
import * as audit from './schemas/audit.ts'
import * as auth from './schemas/auth.ts'
import * as container from './schemas/container.ts'
import { BlockedBody, ErrorBody, LaunchFailedBody } from './schemas/error.ts'
import * as operator from './schemas/operator.ts'
import * as invitations from './schemas/invitations.ts'
import { Message } from './schemas/shapes.ts'
import * as sessions from './schemas/sessions.ts'
import * as system from './schemas/system.ts'
import * as user from './schemas/user.ts'

/**
 * Who may call an endpoint.
 * - `public`: anyone.
 * - `user`: anyone with a valid, unrevoked token.
 * - `admin`: a user who is an administrator in the store at this very request, or the operator.
 * - `operator`: whoever may use the operator's socket, which is the operating system's account that Berth runs as; to
 *   everybody else there is no such address.
 */
export type Access = 'public' | 'user' | 'admin' | 'operator'

/** Statuses an endpoint may refuse with, and the schema of each refusal. */
export type Refusals = { readonly [status: number]: Type.TSchema }

/**
 * Whether a signed-in user who is blocked may call an endpoint. Every row for users has to say it, so that a new one is
 * never open to blocked users by omission; the server refuses what does not say `allowed`.
 * - `refused`: 403, after 401 (token), 404 (user gone) and 400 (unknown container type).
 * - `allowed`: reading what explains the block, and leaving.
 */
export type Blocked = 'refused' | 'allowed'

/** One row of the table: everything that routes, validation, serialisation, OpenAPI, client and access test need. */
export type Endpoint = Row &
  (
    | { readonly access: 'user'; readonly blocked: Blocked }
    // Of administrators a blocked one is none; the others have no account.
    | { readonly access: Exclude<Access, 'user'>; readonly blocked?: never }
  )

interface Row {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** OpenAPI notation: `{name}` is one path segment. */
  readonly path: string
  readonly summary: string
  readonly params?: Type.TSchema
  readonly query?: Type.TSchema
  readonly body?: Type.TSchema
  /** Body of the answer 200; a row has either this or `stream`. */
  readonly response?: Type.TSchema
  /** The answer 200 does not end by itself: server-sent events, and the data of each by its name. */
  readonly stream?: Readonly<Record<string, Type.TSchema>>
  readonly refusals: Refusals
  /** Further headers of the answer, and what each says. */
  readonly headers?: Readonly<Record<string, string>>
  /** False where even reading has an effect, so that `HEAD` must not reach it. */
  readonly head?: false
  /**
   * True where what is read is for pages of ours alone, as with everything that changes something: a browser that sends
   * nothing but the cookie is refused, because the pages of containers can make it send that.
   */
  readonly guarded?: true
  /** True where the cookie of a takeover is enough although it is over: it leads out of it, and to nothing else. */
  readonly endsTakeover?: true
}

const mails = { 400: ErrorBody, 403: ErrorBody, 429: ErrorBody, 500: ErrorBody, 503: ErrorBody } as const
/** Of 429, too. */
const linksLeft = {
  'Links-Left': 'Links that may still be requested for this address now, with or without an account',
  'Links-Reset': 'Seconds until one more link may be requested',
} as const
const verifies = { 400: ErrorBody, 403: ErrorBody, 429: ErrorBody } as const
const adminRefusals = { 404: ErrorBody } as const

/**
 * The API, whole. Adding an endpoint starts here; `http/` refuses to compile until it has a handler,
 * and the access test covers it by itself.
 */
export const endpoints = {
  logIn: {
    method: 'POST',
    path: '/api/auth/login',
    access: 'public',
    summary: 'Mail a login link to a registered address',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  },
  signUp: {
    method: 'POST',
    path: '/api/auth/signup',
    access: 'public',
    summary: 'Register an address and mail its first link',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  },
  askForLink: {
    method: 'POST',
    path: '/api/auth/link',
    access: 'public',
    summary: 'Mail a login or signup link to an address; a new address is registered first',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  },
  resendVerification: {
    method: 'POST',
    path: '/api/auth/resend-verification',
    access: 'public',
    summary: 'Mail another signup link to an address that was never verified',
    body: auth.EmailBody,
    response: Message,
    refusals: { 400: ErrorBody, 429: ErrorBody },
    headers: linksLeft,
  },
  verifySignup: {
    method: 'GET',
    path: '/api/auth/verify-signup',
    access: 'public',
    summary: 'Exchange a signup link for an access token',
    query: auth.TokenQuery,
    response: auth.AuthResponse,
    refusals: verifies,
    head: false,
  },
  verifyLogin: {
    method: 'GET',
    path: '/api/auth/verify-login',
    access: 'public',
    summary: 'Exchange a login link for an access token',
    query: auth.TokenQuery,
    response: auth.AuthResponse,
    refusals: verifies,
    head: false,
  },
  logOut: {
    method: 'POST',
    path: '/api/auth/logout',
    access: 'user',
    blocked: 'allowed',
    endsTakeover: true,
    summary: 'Revoke the access token of this request',
    response: Message,
    refusals: {},
  },
  me: {
    method: 'GET',
    path: '/api/user/me',
    access: 'user',
    blocked: 'allowed',
    summary: 'The signed-in user and their primary container',
    response: user.MeResponse,
    refusals: { 404: ErrorBody },
  },
  listContainers: {
    method: 'GET',
    path: '/api/user/containers',
    access: 'user',
    blocked: 'allowed',
    summary: 'One entry for each configured container type',
    response: user.ContainersResponse,
    refusals: { 404: ErrorBody },
  },
  listSessions: {
    method: 'GET',
    path: '/api/user/sessions',
    access: 'user',
    blocked: 'allowed',
    guarded: true,
    summary: 'Sessions of the signed-in user, and takeovers of the last 30 days',
    response: sessions.SessionsResponse,
    refusals: { 404: ErrorBody },
  },
  endSession: {
    method: 'DELETE',
    path: '/api/user/sessions/{id}',
    access: 'user',
    blocked: 'allowed',
    summary: 'End one session of the signed-in user',
    params: sessions.SessionParams,
    response: Message,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  },
  endOtherSessions: {
    method: 'POST',
    path: '/api/user/sessions/end-others',
    access: 'user',
    blocked: 'allowed',
    summary: 'End all sessions of the signed-in user except the current one',
    response: sessions.EndOthersResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  },
  containerStatus: {
    method: 'GET',
    path: '/api/container/status',
    access: 'user',
    blocked: 'allowed',
    summary: 'Status of the primary container',
    response: container.StatusResponse,
    refusals: { 404: ErrorBody },
  },
  restartContainer: {
    method: 'POST',
    path: '/api/container/restart',
    access: 'user',
    blocked: 'refused',
    summary: 'Replace the container of the default type with a new one; its home is kept',
    response: container.RestartResponse,
    refusals: { 403: BlockedBody, 404: ErrorBody, 500: LaunchFailedBody },
  },
  restartOwnContainer: {
    method: 'POST',
    path: '/api/container/restart/{container_type}',
    access: 'user',
    blocked: 'refused',
    summary: 'Replace the container of this type with a new one; its home is kept',
    params: container.TypeParams,
    response: container.RestartResponse,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 500: LaunchFailedBody },
  },
  launchContainer: {
    method: 'POST',
    path: '/api/container/launch/{container_type}',
    access: 'user',
    blocked: 'refused',
    summary: 'Start the container of this type, or create it',
    params: container.TypeParams,
    response: container.LaunchResponse,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 500: LaunchFailedBody },
  },
  stopOwnContainer: {
    method: 'POST',
    path: '/api/container/stop/{container_type}',
    access: 'user',
    blocked: 'refused',
    summary: 'Stop the container of this type; its home is kept, and the next launch or visit starts it',
    params: container.TypeParams,
    response: Message,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 500: ErrorBody },
  },
  keepContainer: {
    method: 'POST',
    path: '/api/container/keep/{container_type}',
    access: 'user',
    blocked: 'refused',
    summary: 'Restart the idle time of the container of this type',
    params: container.TypeParams,
    response: container.KeepResponse,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 500: ErrorBody },
  },
  containerEvents: {
    method: 'GET',
    path: '/api/container/events',
    access: 'user',
    blocked: 'refused',
    guarded: true,
    summary: 'Event stream: changes of the containers of the signed-in user',
    stream: container.containerEvents,
    refusals: { 403: ErrorBody, 404: ErrorBody, 429: ErrorBody, 503: ErrorBody },
    head: false,
  },
  containerLogs: {
    method: 'GET',
    path: '/api/container/logs/{container_type}',
    access: 'user',
    blocked: 'refused',
    guarded: true,
    summary: 'Log stream: the last lines of the container of this type, then each new one',
    params: container.TypeParams,
    query: container.LogsQuery,
    stream: container.logEvents,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 429: ErrorBody, 500: ErrorBody, 503: ErrorBody },
    head: false,
  },
  systemReport: {
    method: 'GET',
    path: '/api/admin/system',
    access: 'admin',
    summary: 'State of reconciler, launch queue, host and mail, with warnings',
    response: admin.SystemReport,
    refusals: {},
  },
  systemHistory: {
    method: 'GET',
    path: '/api/admin/history',
    access: 'admin',
    summary: 'Samples of the last day: containers, launches, free memory and disk',
    response: admin.HistoryResponse,
    refusals: {},
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
  deleteContainer: {
    method: 'DELETE',
    path: '/api/admin/containers/{id}',
    access: 'admin',
    summary: 'Delete a container and its record; its home is kept unless purged',
    params: admin.IdParams,
    query: admin.PurgeQuery,
    response: Message,
    refusals: { 400: ErrorBody, 404: ErrorBody },
  },
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
  listAllContainers: {
    method: 'GET',
    path: '/api/admin/containers',
    access: 'admin',
    summary: 'Containers of all users, page by page',
    query: admin.ContainersQuery,
    response: admin.ListedContainers,
    refusals: { 400: ErrorBody },
  },
  countContainers: {
    method: 'GET',
    path: '/api/admin/containers/count',
    access: 'admin',
    summary: 'Number of containers that match the filters',
    query: admin.ContainersCountQuery,
    response: admin.CountResponse,
    refusals: { 400: ErrorBody },
  },
  blockContainer: {
    method: 'POST',
    path: '/api/admin/containers/{id}/block',
    access: 'admin',
    summary: 'Block one container and stop it',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: adminRefusals,
  },
  unblockContainer: {
    method: 'POST',
    path: '/api/admin/containers/{id}/unblock',
    access: 'admin',
    summary: 'Unblock one container; it is not started',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: adminRefusals,
  },
  bulkBlockContainers: {
    method: 'POST',
    path: '/api/admin/containers/bulk-block',
    access: 'admin',
    summary: 'Block several containers and stop them',
    body: admin.BulkBody,
    response: admin.BulkResponse,
    refusals: { 400: ErrorBody },
  },
  bulkUnblockContainers: {
    method: 'POST',
    path: '/api/admin/containers/bulk-unblock',
    access: 'admin',
    summary: 'Unblock several containers',
    body: admin.BulkBody,
    response: admin.BulkResponse,
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
  rotateKeys: {
    method: 'POST',
    path: '/api/operator/keys/rotate',
    access: 'operator',
    summary: 'Sign tokens with a new key; tokens of the old key stay valid until they expire',
    response: operator.KeysRotated,
    refusals: { 409: ErrorBody },
  },
  printLink: {
    method: 'POST',
    path: '/api/operator/links',
    access: 'operator',
    summary: 'Issue a login or signup link without mailing it',
    body: auth.EmailBody,
    response: operator.PrintedLink,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody },
  },
  stopContainer: {
    method: 'POST',
    path: '/api/operator/containers/{id}/stop',
    access: 'operator',
    summary: 'Stop a container in use; the next launch or visit starts it',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: { 404: ErrorBody, 500: ErrorBody },
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
  endTakeover: {
    method: 'POST',
    path: '/api/auth/end-takeover',
    access: 'user',
    blocked: 'allowed',
    endsTakeover: true,
    summary: 'End a takeover; in a browser the session of the administrator returns',
    response: Message,
    refusals: { 409: ErrorBody },
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
  listAudit: {
    method: 'GET',
    path: '/api/admin/audit',
    access: 'admin',
    summary: 'Audit log, newest first, page by page',
    query: audit.AuditQuery,
    response: audit.AuditResponse,
    refusals: { 400: ErrorBody },
  },
  verifyAudit: {
    method: 'GET',
    path: '/api/admin/audit/verify',
    access: 'admin',
    summary: 'Verify the audit log, and that it still contains an earlier head',
    query: audit.AuditVerifyQuery,
    response: audit.AuditVerdict,
    refusals: { 400: ErrorBody, 503: ErrorBody },
    head: false,
  },
  jwks: {
    method: 'GET',
    path: '/api/.well-known/jwks.json',
    access: 'public',
    summary: 'Public keys for verifying access tokens',
    response: system.JwksResponse,
    refusals: {},
  },
  openApi: {
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    summary: 'This API as an OpenAPI 3.1 document',
    response: system.OpenApiResponse,
    refusals: {},
  },
  health: {
    method: 'GET',
    path: '/healthz',
    access: 'public',
    summary: 'Liveness: the process answers',
    response: system.HealthResponse,
    refusals: {},
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    access: 'public',
    summary: 'Readiness: store and engine answer',
    response: system.ReadyResponse,
    refusals: { 503: system.ReadyResponse },
  },
} as const satisfies Record<string, Endpoint>

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

type StaticOf<E, K extends string> = E extends { readonly [key in K]: infer S extends Type.TSchema }
  ? Type.Static<S>
  : undefined

/** What a caller sends to an endpoint, part by part; parts the table does not name are `undefined`. */
export type Params<N extends EndpointName> = StaticOf<Endpoints[N], 'params'>
export type Query<N extends EndpointName> = StaticOf<Endpoints[N], 'query'>
export type Body<N extends EndpointName> = StaticOf<Endpoints[N], 'body'>
/** Endpoints whose answer is a stream of events, and all others. */
export type StreamName = {
  [N in EndpointName]: Endpoints[N] extends { readonly stream: unknown } ? N : never
}[EndpointName]
export type JsonName = Exclude<EndpointName, StreamName>
/** What an endpoint answers with 200. */
export type Answer<N extends JsonName> = Type.Static<Endpoints[N]['response']>
