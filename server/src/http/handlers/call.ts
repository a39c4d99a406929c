import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type {
  Answer,
  Body,
  EndpointName,
  FileName,
  JsonName,
  Params,
  Query,
  RedirectName,
  StreamName,
} from '@berth/api/endpoints.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Actor, ClientInfo } from '#/accounts/actor.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { ProviderSignIn, ProviderSignOut } from '#/accounts/oidc/open-provider-sign-in.ts'
import type { Sessions } from '#/accounts/sessions/open-sessions.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Admin } from '#/admin/open-admin.ts'
import type { Addresses, Config } from '#/config/config.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Foundation } from '#/containers/containers-parts.ts'
import type { Environments } from '#/environments/open-environments.ts'
import type { Groups } from '#/groups/open-groups.ts'
import type { Homes } from '#/homes/open-homes.ts'
import type { Browsers } from '#/http/auth/browsers.ts'
import type { RateLimiter } from '#/http/rate-limiter.ts'
import type { NodeReport } from '#/nodes/node.ts'
import type { Ssh } from '#/ssh/open-ssh.ts'
import type { Sharing } from '#/sharing/open-sharing.ts'
import type { Usage } from '#/usage/open-usage.ts'
import type { EventStream } from '#/http/event-stream.ts'
import { refusals } from '#/refusals/errors.ts'
import type { User } from '#/store/users.ts'

/** Input of a handler: the parts that its row of the endpoint table names, already validated, and the caller. */
export interface Call<N extends EndpointName> {
  readonly params: Params<N>
  readonly query: Query<N>
  readonly body: Body<N>
  /** Present for endpoints with access `user` and `admin`. */
  readonly session: Session | undefined
  /** Name of the operator, when the request comes from the command line. */
  readonly operator: string | undefined
  readonly client: ClientInfo
  readonly now: Date
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** One handler per endpoint of the table; a missing or misspelt one does not compile. */
export type Handlers = { [N in JsonName]: (call: Call<N>) => Answer<N> | Promise<Answer<N>> } & {
  [N in StreamName]: (call: Call<N>) => EventStream | Promise<EventStream>
} & {
  [N in FileName]: (call: Call<N>) => Readable | Promise<Readable>
} & {
  [N in RedirectName]: (call: Call<N>) => Redirect | Promise<Redirect>
}

/** What requests are answered from: the rooms that this one calls, and what they are built on. */
export interface Rooms extends Pick<Foundation, 'database' | 'runtime'> {
  readonly config: Config
  readonly addresses: Addresses
  readonly key: SigningKeys
  /** With several nodes; this one leads. */
  readonly nodes?: NodeReport
  readonly sessions: Sessions
  readonly containers: Containers
  readonly homes: Homes
  readonly sharing: Sharing
  readonly accounts: Accounts
  readonly admin: Admin
  readonly groups: Groups
  readonly environments: Environments
  readonly usage: Usage
  readonly ssh: Ssh
  readonly providerSignIn: ProviderSignIn
  readonly providerSignOut: ProviderSignOut
}

export interface HandlersParts extends Rooms {
  readonly browsers: Browsers
  readonly rateLimiter: RateLimiter
  /** Findings of the configuration, and those since the start. */
  readonly findings: () => readonly LocalizedMessage[]
}

/** Answers 302. */
export interface Redirect {
  /** A path of the front end, or an address of ours or of a provider; never what a request said, unchecked. */
  readonly location: string
}

/** What tells who makes a request. */
export interface CallOrigin {
  readonly session: Session | undefined
  readonly operator: string | undefined
  readonly client: ClientInfo
}

/** Session of an endpoint with access `user` or `admin`, as `authorizeRequest` has checked. @throws {Refusal} 401 */
export function sessionOf(call: CallOrigin): Session {
  if (!call.session) throw refusals.noToken()
  return call.session
}

/** Session of the account's owner, not of a takeover. @throws {Refusal} 401, 403 in a takeover */
export function ownSessionOf(call: CallOrigin): Session {
  const session = sessionOf(call)
  if (session.claims.acting !== null) throw refusals.takenOver()
  return session
}

/** Actor of an administrative request. @throws {Refusal} 401, 404 as `userOf` */
export function actorOf(call: CallOrigin): Actor {
  const { address, language } = call.client
  if (call.operator !== undefined) return { id: null, email: call.operator, address: 'command line', language }
  const { id, email } = userOf(call)
  return { id, email, address, language }
}

/** Owner of the account, for the audit log. @throws {Refusal} 401, 404 as `userOf` */
export function ownerOf(call: CallOrigin): { readonly id: number; readonly email: string; readonly address: string } {
  const { id, email } = userOf(call)
  return { id, email, address: call.client.address }
}

/** Account of the session. @throws {Refusal} 404 when it was deleted. Source: specification, Errors */
export function userOf(call: CallOrigin): User {
  const { user } = sessionOf(call)
  if (!user) throw refusals.userGone()
  return user
}

/** Max rows in one answer. */
const maxPageSize = 1000

/** Page size. @param text digits @throws {Refusal} 400 outside 1 to 1000 */
export function readLimit(text: string | undefined, defaultLimit = maxPageSize): number {
  const limit = Number(text ?? defaultLimit)
  if (limit < 1 || limit > maxPageSize) throw refusals.badRequest(message('requests.badLimit', { max: maxPageSize }))
  return limit
}

/** Lines of output in one answer, or before those that follow: default and maximum. */
const [defaultLines, maxLines] = [100, 1_000]

/** @param text digits, as the endpoint table has checked @throws {Refusal} 400 above the maximum */
export function readLineCount(text: string | undefined): number {
  const lines = text === undefined ? defaultLines : Number(text)
  if (lines > maxLines) throw refusals.badRequest(message('requests.tooManyLines', { max: maxLines }))
  return lines
}

/** `Number` alone would accept `1e3`, `0x10` and the empty text. @throws {Refusal} 404 for text that is no id */
export function readId(
  text: string,
  what: 'user' | 'container' | 'session' | 'token' | 'sshKey' | 'share' | 'lookRequest',
): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.notFound(what)
  return Number(text)
}

/** Does what `readId` does, for a member of a group. @throws {Refusal} 404 */
export function readMemberId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.groupNotFound('member')
  return Number(text)
}

/** Does what `readId` does, for a group. @throws {Refusal} 404 */
export function readGroupId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.groupNotFound('group')
  return Number(text)
}

/** Aborted when the client closes the connection. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}
