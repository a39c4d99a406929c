import type Type from 'typebox'
import { isAdminScope, isScope, type AdminScope, type ContainersScope, type Scope } from './scopes.ts'

/**
 * Access level of an endpoint, by role (role-based access control, RBAC): who may call it.
 * - `public`: anyone.
 * - `user`: anyone with a valid, unrevoked token.
 * - `admin`: a user who is an administrator in the store at this very request, or the operator.
 * - `operator`: a process that can open the operator's socket, i.e. runs as the operating system account of Berth; any
 *   other request is answered 404.
 */
export type Access = 'public' | 'user' | 'admin' | 'operator'

/** Statuses an endpoint may refuse with, and the schema of each refusal. */
export type Refusals = { readonly [status: number]: Type.TSchema }

/**
 * Whether a signed-in user who is blocked may call an endpoint. A row that omits it is refused: a new endpoint is closed
 * to blocked users by default.
 * - `refused`: 403, after 401 (token), 404 (user deleted) and 400 (unknown container type).
 * - `may read`: the endpoint reads what explains the block, or ends a session; it changes nothing else.
 */
export type Blocked = 'refused' | 'may read'

/** Row of the endpoint table: routes, validation, serialization, OpenAPI, client and access test are derived from it. */
export type Endpoint = Row &
  // The scope that an API token needs here. A row that omits it is refused to every API token: closed by default.
  (
    | {
        readonly access: 'user'
        readonly blocked?: Blocked
        /** One of administrators where a row is for them and for managers: a manager's token has none of these. */
        readonly scope?: ContainersScope | AdminScope
        /** True where the operator, who has no account, may call it, too. */
        readonly forOperator?: true
      }
    // A blocked administrator has no rights; `public` and `operator` have no account.
    | { readonly access: 'admin'; readonly blocked?: never; readonly scope?: AdminScope; readonly forOperator?: never }
    | {
        readonly access: 'public' | 'operator'
        readonly blocked?: never
        readonly scope?: never
        readonly forOperator?: never
      }
  )

interface Row {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** OpenAPI notation: `{name}` is one path segment. */
  readonly path: string
  readonly summary: string
  readonly params?: Type.TSchema
  readonly query?: Type.TSchema
  readonly body?: Type.TSchema
  /** True where a request without the body is as one with `{}`. */
  readonly isBodyOptional?: true
  /**
   * True where what is no JSON object counts as `{}`, too: the specification has no body there, and clients send
   * anything. What begins like JSON and is none is refused all the same.
   */
  readonly isAnyBodyAccepted?: true
  /** True where the body is a form (`application/x-www-form-urlencoded`) and not JSON, because a standard says so. */
  readonly form?: true
  /** Status of the answer in place of 200. */
  readonly status?: 202
  /** Body of the answer 200; a row has either this, `stream`, `file` or `redirects`. */
  readonly response?: Type.TSchema
  /**
   * The answer is 302 for a browser that navigates here: where it leads, in words. A parameter that is repeated, or longer than
   * `query` says, counts as missing.
   */
  readonly redirects?: string
  /** The answer 200 is a stream of server-sent events: the schema of the data of each event, by its name. */
  readonly stream?: Readonly<Record<string, Type.TSchema>>
  /** The answer 200 is a file of this media type. */
  readonly file?: string
  /** True where the header `Range` is answered with 206 and a part of the file. */
  readonly inParts?: true
  /** The body is a file, which is read as it comes: its media types. */
  readonly upload?: readonly string[]
  readonly refusals: Refusals
  /** Additional response headers, each with its description. */
  readonly headers?: Readonly<Record<string, string>>
  /** False where a `GET` has side effects, so that `HEAD` is not routed to it. */
  readonly head?: false
  /**
   * True where a `GET` needs the CSRF token, like every request that changes something: a browser that sends only the
   * cookie is refused, because pages of containers can make it send the cookie.
   */
  readonly guarded?: true
  /**
   * True where an ended session is refused although its token is still answered elsewhere (after a block), because what
   * is made here outlives the token. The same holds for every `stream`.
   */
  readonly needsSession?: true
  /**
   * True where any of several nodes may answer: a `GET` that reads the store, the engine, and what the leader has sent. A row that
   * omits it is answered by the leader. See decision 068.
   */
  readonly anyNode?: true
  /** True where the cookie of an expired takeover is accepted: the endpoint ends the takeover. */
  readonly endsTakeover?: true
}

/** Every field that some row may have. */
type Field = keyof Row | 'access' | 'blocked' | 'scope' | 'forOperator'
/** What a row says beside its route and who may call it. */
type Rest = Omit<Row, 'method' | 'path'> & {
  readonly blocked?: Blocked
  readonly scope?: Scope
  readonly forOperator?: true
}

/** Access level, with the scope that API tokens need where it is named by that. */
type CallerFields<C extends Access | Scope> = C extends Scope
  ? { readonly access: C extends AdminScope ? 'admin' : 'user'; readonly scope: C }
  : { readonly access: C }

/**
 * A row of the endpoint table.
 * @param route method and path, e.g. `GET /api/user/{id}`
 * @param caller who may call it: an access level, which is closed to API tokens, or a scope, whose access level it has
 */
export function endpoint<
  const M extends Row['method'],
  const P extends string,
  const C extends Access | Scope,
  const R extends Rest,
>(
  route: `${M} ${P}`,
  caller: C,
  rest: R & { readonly [K in Exclude<keyof R, Field>]: never },
): { readonly method: M; readonly path: P } & CallerFields<C> & R {
  const [method, path] = route.split(' ') as [M, P]
  const callerFields = isScope(caller)
    ? { access: isAdminScope(caller) ? 'admin' : 'user', scope: caller }
    : { access: caller }
  return { method, path, ...(callerFields as CallerFields<C>), ...rest }
}
