import type { Logger } from 'pino'
import type { Dispatcher } from 'undici'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { traceHeaders, traced } from '#/machine/log-context.ts'
import { EngineCallMetrics, type CallKind, type ConnectionPools } from './connection-pools.ts'
import { jsonLines } from './json-stream.ts'

/** One call to the API of an engine. */
export interface ApiCall {
  /** What is being done, for the error: `start berth-ann-dev`. Its first word is a label of the metrics. */
  readonly what: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Names in it are already encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** ms, for the whole answer, the wait for a connection included; of a stream, for its beginning */
  readonly timeout: number
  /** Whose connections it takes; `query` for GET and HEAD, `verb` for everything else when it is not given. */
  readonly kind?: CallKind
  readonly signal?: AbortSignal | undefined
}

export type ApiRequest = Dispatcher.RequestOptions
export type ApiAnswer = Dispatcher.ResponseData

/** What differs between the APIs of engines. */
export interface EngineApi<C extends ApiCall> {
  /** The connections that a call takes now. */
  readonly pools: () => ConnectionPools
  /** The request of a call. @param signal ends it at its limit, or when its caller gives up */
  readonly request: (call: C, signal: AbortSignal) => ApiRequest | Promise<ApiRequest>
  /** An answer of 400 and above, in the port's words. */
  readonly refusal: (call: C, answer: ApiAnswer) => Promise<RuntimeError>
  /** Called with each error before a call throws it. */
  readonly onFailure?: (error: unknown) => void
}

/**
 * Calls to one engine over its connection pools: each has a limit and a signal, is counted and logged, and fails with
 * an error of the port.
 */
export class EngineCalls<C extends ApiCall> {
  readonly #api: EngineApi<C>
  readonly #log: Pick<Logger, 'debug'> | undefined
  readonly #metrics = new EngineCallMetrics()

  /** @param log gets a line for each call */
  constructor(api: EngineApi<C>, log: Pick<Logger, 'debug'> | undefined) {
    this.#api = api
    this.#log = log
  }

  /**
   * Sends, and has `read` take the answer, all within the limit.
   * @throws {RuntimeError} or the reason of the caller's signal
   */
  async exchange<T>(call: C, read: (answer: ApiAnswer) => Promise<T>): Promise<T> {
    return this.measured(call, async (signal) => {
      const request = await this.#api.request(call, signal)
      const answer = await this.#api.pools().of(callKindOf(call)).request(request)
      if (answer.statusCode >= 400) throw await this.#api.refusal(call, answer)
      return read(answer)
    })
  }

  /**
   * Does a call by other means than the pools, within its limit, counted and logged.
   * @throws {RuntimeError} or the reason of the caller's signal
   */
  async measured<T>(call: C, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // Addresses of calls have names of users' objects in them; the first word says what is done.
    const attributes = { 'http.request.method': call.method, 'berth.call_kind': callKindOf(call) }
    const name = `engine ${call.what.split(' ', 1)[0] ?? ''}`
    return traced(name, 'client', attributes, () => this.#measured(call, work))
  }

  async #measured<T>(call: C, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    call.signal?.throwIfAborted()
    const limit = new AbortController()
    const end = () => limit.abort(new DOMException(`no answer in ${call.timeout} ms`, 'TimeoutError'))
    const stopLimit = whenHasWaited(call.timeout, end)
    const begun = performance.now()
    const release = this.#metrics.take(callKindOf(call))
    let problem: unknown
    try {
      return await work(call.signal ? AbortSignal.any([limit.signal, call.signal]) : limit.signal)
    } catch (error) {
      problem = this.#failure(error, call)
      throw problem
    } finally {
      stopLimit()
      release()
      this.#note(call, performance.now() - begun, problem)
    }
  }

  /**
   * An answer that comes bit by bit. The limit is for its beginning; the caller's signal ends it. What is not read yet
   * makes the engine wait.
   * @returns once it has begun; reading it throws as `exchange`
   */
  async stream(call: C & { readonly signal: AbortSignal }): Promise<AsyncGenerator<Buffer>> {
    return this.#reading(call, await this.exchange(call, async ({ body }) => body))
  }

  /** Does what `stream` does, for an answer that comes in lines of JSON. */
  async follow<T>(call: C & { readonly signal: AbortSignal }): Promise<AsyncGenerator<T>> {
    return this.#reading(call, jsonLines<T>(await this.exchange(call, async ({ body }) => body)))
  }

  /**
   * An answer that is no JSON.
   * @returns its bytes; more than `maxBytes` of an answer that is longer, of which the rest is not read
   * @throws as `exchange`
   */
  async firstBytes(call: C, maxBytes: number): Promise<Buffer> {
    return this.exchange(call, async ({ body }) => {
      const chunks: Buffer[] = []
      let length = 0
      for await (const chunk of body as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        length += chunk.length
        // Leaving the loop closes this one connection.
        if (length > maxBytes) break
      }
      return Buffer.concat(chunks)
    })
  }

  /** Numbers about calls for `/metrics`, by name. */
  counts(): Readonly<Record<string, number>> {
    return this.#metrics.series()
  }

  async *#reading<T>(call: C, parts: AsyncIterable<T>): AsyncGenerator<T> {
    const release = this.#metrics.take(callKindOf(call))
    try {
      yield* parts
    } catch (error) {
      throw this.#failure(error, call)
    } finally {
      release()
    }
  }

  #failure(error: unknown, { what, signal }: C): unknown {
    const failure = toRuntimeError(error, what, signal)
    this.#api.onFailure?.(failure)
    return failure
  }

  #note(call: C, ms: number, problem: unknown): void {
    this.#metrics.note(call.what, ms, problem)
    // A ping every second would be most of the log.
    if (call.kind === 'health') return
    const failure = problem instanceof Error ? { failed: problem.name } : {}
    this.#log?.debug({ engine: call.what, ms: Math.round(ms), ...failure }, 'engine call')
  }
}

/** Parts of a limit that are waited for one after the other. */
const partsOfLimit = 6

/**
 * Calls back once this process has waited for a time. While it computes without a pause, as at its start, no answer can be
 * read: however long that takes, it counts as one part of the limit.
 * @param timeout ms @returns ends it
 */
function whenHasWaited(timeout: number, end: () => void): () => void {
  let left = partsOfLimit
  const wait = () => setTimeout(() => void (--left === 0 ? end() : (timer = wait())), timeout / partsOfLimit)
  let timer = wait()
  return () => clearTimeout(timer)
}

const callKindOf = ({ kind, method }: ApiCall): CallKind =>
  kind ?? (method === 'GET' || method === 'HEAD' ? 'query' : 'verb')

/**
 * Whatever went wrong on the way, in the port's words. A connection that is refused, breaks, or carries no sense says
 * nothing about the world, so all of that is `unreachable`; a caller who gave up gets the reason of the signal back.
 */
export function toRuntimeError(error: unknown, what: string, signal: AbortSignal | undefined): unknown {
  if (error instanceof RuntimeError) return error
  if (signal?.aborted) return signal.reason
  return new RuntimeError('unreachable', what, error)
}

/** The request of a call with a body in JSON, or none. @param headers beside that of the content */
export function jsonRequest(
  { method, path, query, body }: ApiCall,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): ApiRequest {
  return {
    method,
    path: query ? `${path}?${new URLSearchParams(query).toString()}` : path,
    headers: { ...headers, ...traceHeaders(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  }
}
