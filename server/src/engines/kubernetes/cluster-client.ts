import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { RuntimeError, type RuntimeErrorKind } from '#/engines/runtime-error.ts'
import { ConnectionPools } from '#/engines/transport/connection-pools.ts'
import {
  EngineCalls,
  jsonRequest,
  toRuntimeError,
  type ApiAnswer,
  type ApiCall,
  type ApiRequest,
} from '#/engines/transport/engine-calls.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { connectorOf, type ClusterAccess } from './cluster-access.ts'

/** How long each kind of call may take, in ms; after it the API server counts as not answering. */
export const callTimeouts = {
  read: 3_000,
  /** A page of at most 500 objects. */
  list: 15_000,
  /** Admission plugins and webhooks of the cluster may take 10 s each. */
  write: 30_000,
} as const

/**
 * Pause after credentials were renewed, in ms: an account that is always refused does not have a plugin run at each
 * call.
 */
const renewalPause = 10_000

/** One call to the API server. */
export interface ClusterCall extends ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
}

/** The namespace where an installation has its objects, and the client of its API server. */
export interface ClusterNamespace {
  readonly client: ClusterClient
  /** Name of this installation, on every label. */
  readonly installation: string
  readonly namespace: string
}

/** Path of a namespace's objects of a kind of the core API. @param name of one of them */
export const corePath = (
  { namespace }: Pick<ClusterNamespace, 'namespace'>,
  kind: 'pods' | 'secrets' | 'persistentvolumeclaims' | 'events' | 'resourcequotas',
  name?: string,
): string => `/api/v1/namespaces/${namespace}/${kind}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`

/**
 * HTTP client of one API server, over the connection pools that the client of the Docker Engine has, too: every call
 * has a deadline and a signal, and no kind of call waits for the connections of another.
 */
export class ClusterClient {
  #pools: ConnectionPools
  #renewedAt = -Infinity
  readonly #access: ClusterAccess
  readonly #calls: EngineCalls<ClusterCall>

  /** Connects at the first call. @param log gets a line for each call */
  constructor(access: ClusterAccess, log?: Pick<Logger, 'debug'>) {
    this.#access = access
    this.#pools = this.#openPools()
    this.#calls = new EngineCalls(
      {
        pools: () => this.#pools,
        request: (call, signal) => this.#request(call, signal),
        refusal: (call, answer) => this.#refusal(call, answer),
      },
      log,
    )
  }

  /**
   * @param prepare returns what is parsed of the answer's text; what it asks for itself is on its way before
   * @returns the answer's JSON @throws {RuntimeError} or the reason of the caller's signal
   */
  async ask<T = void>(call: ClusterCall, prepare?: (text: string) => string): Promise<T> {
    return this.#calls.exchange(call, async ({ body }) => {
      let text = await body.text()
      if (prepare) {
        text = prepare(text)
        await nextTurn()
      }
      return (text === '' ? undefined : JSON.parse(text)) as T
    })
  }

  /** Does what `ask` does. @returns also the header `Date` (RFC 9110, 6.6.1), which has a resolution of a second */
  async askWithDate<T>(call: ClusterCall): Promise<{ readonly answer: T; readonly date: Date | null }> {
    return this.#calls.exchange(call, async ({ body, headers }) => {
      const date = new Date(String(headers.date ?? ''))
      return { answer: (await body.json()) as T, date: Number.isNaN(date.getTime()) ? null : date }
    })
  }

  /** An answer that is no JSON. @param maxBytes of it that are read @throws as `ask` */
  async download(call: ClusterCall, maxBytes: number): Promise<Buffer> {
    return (await this.#calls.firstBytes(call, maxBytes)).subarray(0, maxBytes)
  }

  /**
   * An answer that comes bit by bit; the caller's signal ends it.
   * @returns once it has begun; reading it throws as `ask`
   */
  async stream(call: ClusterCall & { readonly signal: AbortSignal }): Promise<AsyncGenerator<Buffer>> {
    return this.#calls.stream(call)
  }

  /** Does what `stream` does, for an answer that comes in lines of JSON. */
  async follow<T>(call: ClusterCall & { readonly signal: AbortSignal }): Promise<AsyncGenerator<T>> {
    return this.#calls.follow(call)
  }

  /** What a connection of another protocol than HTTP needs. @param path of the API @throws as `ask` */
  async connection({
    what,
    path,
    signal,
  }: {
    readonly what: string
    readonly path: string
    readonly signal: AbortSignal
  }) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(callTimeouts.list)])
    try {
      const both = Promise.all([this.#access.headers(), this.#access.connect()])
      const [headers, connect] = await withSignal(both, limit)
      return { url: `${this.#access.server}${path}`, headers, connect }
    } catch (error) {
      throw toRuntimeError(error, what, signal)
    }
  }

  /** Numbers about calls for `/metrics`, by name. */
  counts(): Readonly<Record<string, number>> {
    return this.#calls.counts()
  }

  async #request(call: ClusterCall, signal: AbortSignal): Promise<ApiRequest> {
    const base = new URL(this.#access.server).pathname.replace(/\/$/, '')
    const credentials = await withSignal(this.#access.headers(), signal)
    const headers = { accept: 'application/json', 'user-agent': 'berth', ...credentials }
    return jsonRequest({ ...call, path: `${base}${call.path}` }, signal, headers)
  }

  async #refusal({ what }: ClusterCall, { statusCode, body }: ApiAnswer): Promise<RuntimeError> {
    if (statusCode === 401) this.#renew()
    return errorResponseOf(what, statusCode, await body.text())
  }

  #openPools(): ConnectionPools {
    // With HTTP/2 one frozen connection would hold up watches and calls alike.
    return new ConnectionPools(new URL(this.#access.server).origin, {
      connect: connectorOf(() => this.#access.connect()),
      allowH2: false,
    })
  }

  /**
   * A token, or the certificate of the connections, has expired: the next calls have both anew; those under way go on.
   */
  #renew(): void {
    if (performance.now() - this.#renewedAt < renewalPause) return
    this.#renewedAt = performance.now()
    this.#access.renew()
    const before = this.#pools
    this.#pools = this.#openPools()
    void before.close()
  }
}

/** Max pauses before the attempts after the first, in ms. */
const maxPauses = [200, 500, 1_000, 2_000]

/**
 * Creates an object, and tries again when others changed a quota at the same moment: the API server answers 409 then,
 * too ("Operation cannot be fulfilled on resourcequotas ..."), and has created nothing.
 * @throws {RuntimeError} `conflict` when there is one of this name, or the quota was still changing after the last
 *   attempt
 */
export async function createObject<T = void>(client: ClusterClient, call: Omit<ClusterCall, 'method'>): Promise<T> {
  const create = () => client.ask<T>({ ...call, method: 'POST' })
  for (const max of maxPauses) {
    try {
      return await create()
    } catch (error) {
      if (statusOf(error) !== 409 || reasonOf(error) === 'AlreadyExists') throw error
    }
    // Launches of a class that collided do not do so again.
    const pause = (max * (1 + Math.random())) / 2
    await sleep(pause, undefined, { ...(call.signal && { signal: call.signal }) }).catch(() => undefined)
    call.signal?.throwIfAborted()
  }
  return create()
}

/** A `Status` object of the API, or what came in its place. */
interface ApiStatus {
  readonly kind?: string
  readonly reason?: string
  readonly message?: string
}

/** What the API server said instead of doing it. No header and no request is kept: they may have tokens. */
class ApiErrorResponse extends Error {
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(`the API server answered ${status}${reason && ` ${reason}`}: ${message.slice(0, 500)}`)
    this.name = 'ApiErrorResponse'
    this.status = status
    this.reason = reason
  }
}

/** An answer of 400 and above, in the port's words. @param what was being done @param body of the answer */
export function errorResponseOf(what: string, status: number, body: string): RuntimeError {
  const said = parseStatus(body)
  const answer = new ApiErrorResponse(status, said.reason ?? '', said.message ?? body)
  const kind = kindOf(answer, said)
  return new RuntimeError(kind, what, answer, kind === 'full' ? quotaIn(answer.message) : undefined)
}

/** Status of the answer that an error has; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  const cause = error instanceof RuntimeError ? error.cause : undefined
  return cause instanceof ApiErrorResponse ? cause.status : undefined
}

/** Whether this account may not do it, whatever there is room for. */
export const isForbidden = (error: unknown): boolean =>
  statusOf(error) === 403 && error instanceof RuntimeError && error.kind !== 'full'

/** Reason of the answer that an error has, such as `AlreadyExists`; undefined when there was none. */
export function reasonOf(error: unknown): string | undefined {
  const cause = error instanceof RuntimeError ? error.cause : undefined
  return cause instanceof ApiErrorResponse ? cause.reason : undefined
}

/** Whether what was asked for does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof RuntimeError && error.kind === 'missing'

/**
 * "Not found" counts only as a `Status` of the API: a 404 of a proxy in between would make Berth forget what runs. An
 * API server that refuses the token (401), is overloaded (429) or fails (5xx) has said nothing about the world either.
 */
function kindOf({ status, message }: ApiErrorResponse, { kind, reason }: ApiStatus): RuntimeErrorKind {
  if (status === 404) return kind === 'Status' && reason === 'NotFound' ? 'missing' : 'unreachable'
  if (status === 401 || status === 429 || status >= 500) return 'unreachable'
  if (status === 409) return 'conflict'
  // A quota that every pod has to name resources for (`failed quota: few: must specify limits.cpu`) has room: it is the
  // operator's to mend.
  const isFull = status === 403 && /exceeded quota|forbidden: .*quota/i.test(message) && !/failed quota:/i.test(message)
  return isFull ? 'full' : 'failed'
}

/** Name and numbers of the quota: `few, requested: pods=1, used: pods=3, limited: pods=3`. */
const quotaIn = (message: string): string | undefined => /exceeded quota: ([^\n]{1,300})/i.exec(message)?.[1]

function parseStatus(body: string): ApiStatus {
  try {
    return (JSON.parse(body) as ApiStatus | null) ?? {}
  } catch {
    return {}
  }
}
