import type { IncomingMessage, RequestOptions } from 'node:http'
import { Readable, type Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { request } from '@berth/gateway/basics/bind.ts'
import { NetworkFull, RuntimeError, type RuntimeErrorKind } from '#/engines/runtime-error.ts'
import { ConnectionPools } from '#/engines/transport/connection-pools.ts'
import { EngineCalls, jsonRequest, type ApiCall, type ApiRequest } from '#/engines/transport/engine-calls.ts'
import { jsonArrayItems } from '#/engines/transport/json-stream.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { parseEngineAddress, type EngineAddress } from './engine-address.ts'

/** How long each kind of call may take, in ms; after it the engine counts as not answering. */
export const callTimeouts = {
  read: 3_000,
  /** All containers: the engine takes seconds over tens of thousands. Nothing that a person waits for asks this. */
  list: 30_000,
  create: 60_000,
  start: 60_000,
  /** Freezing takes milliseconds, except while the program forks without end. */
  pause: 10_000,
  measure: 5_000,
  /** Every file is looked at. */
  measureHomes: 600_000,
  measureLayer: 300_000,
  /** The engine itself waits 10 s before it kills the program. */
  stop: 25_000,
  remove: 60_000,
  /** Without a byte of an archive: a folder of a million files is read before the next one comes. */
  readHomeStall: 120_000,
  /** Between the begin of an upload and the answer. */
  writeHome: 86_400_000,
  /** Without taking a byte of an archive, or between the last one and the answer. */
  writeHomeStall: 120_000,
  /** Starter files of one home. */
  writeFiles: 120_000,
  /** Containers and images of a build, which are few. */
  sweep: 60_000,
  pull: 1_800_000,
  /** The engine reports progress several times a second, also while it unpacks a large layer. */
  pullStall: 120_000,
} as const

/** Whether the engine accepts a name; anything else in a path could mean another call. */
export const isValidName = (name: string): boolean => /^[a-zA-Z0-9][\w.-]+$/.test(name)

/** One call to the engine. Its path has no version. */
export interface EngineCall extends ApiCall {
  /** Beside those of the content; secrets in them are logged nowhere. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as a tar archive, instead of `body`; the engine's pace is kept. */
  readonly archive?: AsyncIterable<Uint8Array>
}

/** Newest version of the engine's API whose changes were read through; an engine that is older decides itself. */
const newestMinor = 47

/**
 * HTTP client of one engine, over connection pools. It is ours, on undici, because it streams lists, bounds every call
 * and keeps pings apart (server/src/engines/README.md). It connects at the first call; idle connections do not keep
 * the process alive.
 */
export class EngineClient {
  readonly #calls: EngineCalls<EngineCall>
  readonly #address: EngineAddress
  #version: Promise<string> | undefined

  /**
   * @param address `unix:///path`, `tcp://host:port` or a URL @param log gets a line for each call
   * @throws {Error} when the address is none of these
   */
  constructor(address: string, log?: Pick<Logger, 'debug'>) {
    this.#address = parseEngineAddress(address)
    const { origin, ...where } = this.#address
    const pools = new ConnectionPools(origin, where)
    this.#calls = new EngineCalls(
      {
        pools: () => pools,
        request: requestOf,
        refusal: async (call, { statusCode, body }) => refusalIn(call, statusCode, await body.text()),
        onFailure: (error) => this.#noteFailure(error),
      },
      log,
    )
  }

  /**
   * Asks whether the engine answers at all.
   * @returns the prefix of paths in the version of the API that it and we speak; going without one is deprecated
   * @throws {RuntimeError} `unreachable` within 3 s
   */
  async ping(): Promise<string> {
    const call: EngineCall = {
      what: 'ping the engine',
      method: 'GET',
      path: '/_ping',
      timeout: callTimeouts.read,
      kind: 'health',
    }
    const { headers } = await this.#calls.exchange(call, async (response) => {
      await response.body.text()
      return response
    })
    const [, major, minor] = /^(\d+)\.(\d+)$/.exec(String(headers['api-version'])) ?? []
    return major === undefined ? '' : `/v${major}.${Math.min(Number(minor), newestMinor)}`
  }

  /**
   * One question, one answer.
   * @returns the answer's JSON, in the shape that the engine's API documents; undefined when it is empty (204, 304)
   * @throws {RuntimeError} or the reason of the caller's signal
   */
  async ask<T = void>(call: EngineCall): Promise<T> {
    return this.#calls.exchange(await this.#versioned(call), async ({ body }) => {
      const text = await body.text()
      return (text === '' ? undefined : JSON.parse(text)) as T
    })
  }

  /**
   * A header of the answer; undefined when it has none of this name.
   * @throws {RuntimeError} or the reason of the caller's signal
   */
  async header(call: EngineCall, name: string): Promise<string | undefined> {
    return this.#calls.exchange(await this.#versioned(call), async ({ headers, body }) => {
      await body.dump()
      return headers[name]?.toString()
    })
  }

  /**
   * An answer that is an array, taken item by item as it comes: one of many megabytes would hold everything else up.
   * @param take called with some items at a time, in order; those that came before a failure were taken
   * @param level 2 when the array stands in an object, as that of volumes does
   * @throws {RuntimeError} or the reason of the caller's signal
   */
  async each<T>(call: EngineCall, take: (items: readonly T[]) => void, level: 1 | 2 = 1): Promise<void> {
    await this.#calls.exchange(await this.#versioned(call), async ({ body }) => {
      for await (const items of jsonArrayItems<T>(body, level)) take(items)
    })
  }

  /**
   * An answer that comes bit by bit. The limit is for its beginning; the caller's signal ends it. What is not read yet
   * makes the engine wait.
   * @returns once it has begun; reading it throws as the call does
   */
  async stream(call: EngineCall & { readonly signal: AbortSignal }): Promise<AsyncGenerator<Buffer>> {
    return this.#calls.stream(await this.#versioned(call))
  }

  /** Does what `stream` does, for an answer that comes in lines of JSON. */
  async follow<T>(call: EngineCall & { readonly signal: AbortSignal }): Promise<AsyncGenerator<T>> {
    return this.#calls.follow(await this.#versioned(call))
  }

  /**
   * An answer that is no JSON.
   * @returns its bytes; undefined when there are more than `maxBytes`, of which the rest is not read
   * @throws {RuntimeError} or the reason of the caller's signal
   */
  async download(call: EngineCall, maxBytes: number): Promise<Buffer | undefined> {
    const bytes = await this.#calls.firstBytes(await this.#versioned(call), maxBytes)
    return bytes.length > maxBytes ? undefined : bytes
  }

  /**
   * A connection that the engine gives over to what the call is about, after its answer of 101. It takes no place in a
   * pool: who asks for many of them bounds their number.
   * @throws {RuntimeError} or the reason of the caller's signal
   */
  async hijack(call: EngineCall): Promise<Duplex> {
    const versioned = await this.#versioned(call)
    return this.#calls.measured(versioned, (signal) => hijack(this.#address, versioned, signal))
  }

  /** Numbers about calls for `/metrics`, by name. */
  counts(): Readonly<Record<string, number>> {
    return this.#calls.counts()
  }

  /**
   * Adds the version of the API to the path. It is asked for once, until the engine goes away: what comes back may be
   * another.
   */
  async #versioned<C extends EngineCall>(call: C): Promise<C> {
    const version = (this.#version ??= this.ping())
    version.catch(() => (this.#version = undefined))
    return { ...call, path: `${await withSignal(version, call.signal)}${call.path}` }
  }

  #noteFailure(error: unknown): void {
    const isGone = error instanceof RuntimeError && error.kind === 'unreachable'
    // "client version 1.41 is too old": it came back unnoticed, as another version.
    if (isGone || statusOf(error) === 400) this.#version = undefined
  }
}

function requestOf(call: EngineCall, signal: AbortSignal): ApiRequest {
  const { archive, headers } = call
  if (!archive) return jsonRequest(call, signal, headers)
  const request = jsonRequest(call, signal, { ...headers, 'content-type': 'application/x-tar' })
  return { ...request, body: Readable.from(archive) }
}

async function hijack({ origin, socketPath }: EngineAddress, call: EngineCall, signal: AbortSignal): Promise<Duplex> {
  const { protocol, hostname, port } = new URL(origin)
  const where: RequestOptions = socketPath === undefined ? { host: hostname, port } : { socketPath }
  const send = protocol === 'https:' ? process.getBuiltinModule('node:https').request : request
  const body = JSON.stringify(call.body)
  const headers = {
    host: 'docker',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'Upgrade',
    upgrade: 'tcp',
  }
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const asked = send({ ...where, method: call.method, path: call.path, headers, agent: false })
  const giveUp = () => asked.destroy(signal.reason as Error)
  signal.addEventListener('abort', giveUp, { once: true })
  asked.on('error', reject)
  asked.on('upgrade', (_: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (head.length > 0) socket.unshift(head)
    resolve(socket)
  })
  asked.on('response', (answer: IncomingMessage) => {
    text(answer)
      .then((said) => reject(refusalIn(call, answer.statusCode ?? 0, said)))
      .catch(reject)
  })
  asked.end(body)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** What the engine said instead of doing it. */
class EngineErrorResponse extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(`the engine answered ${status}: ${message}`)
    this.name = 'EngineErrorResponse'
    this.status = status
  }
}

/** An answer of 400 and above, in the port's words. */
function refusalIn({ what }: EngineCall, status: number, body: string): RuntimeError {
  const answer = new EngineErrorResponse(status, messageIn(body))
  const kind = kindOf(answer)
  return kind === 'full' && isNetworkFull(answer.message)
    ? new NetworkFull(what, answer)
    : new RuntimeError(kind, what, answer)
}

/** Status of the engine's answer; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  const cause = error instanceof RuntimeError ? error.cause : undefined
  return cause instanceof EngineErrorResponse ? cause.status : undefined
}

/**
 * The words are looked at beside the status: a 404 may come from a proxy in between that knows no such path, and
 * taking that for "gone" would make Berth forget containers that run.
 */
function kindOf({ status, message }: EngineErrorResponse): RuntimeErrorKind {
  if (status === 404 && /no such container/i.test(message)) return 'missing'
  if (status === 404 && /no such image|image not known/i.test(message)) return 'image'
  if (isOutOfSpace(message)) return 'full'
  return status === 409 ? 'conflict' : 'failed'
}

/** The engine's words for address pools, addresses of a network, and ports of a bridge (EXFULL) that are used up. */
const networkFullMessages =
  /non-overlapping IPv\d address pool|been fully subnetted|no available (IPv4 )?addresses|exchange full/i

const isNetworkFull = (words: string) => networkFullMessages.test(words)

/** Whether the engine's words say that there is no room for it: on its networks, or on its disk (ENOSPC). */
export const isOutOfSpace = (words: string) => isNetworkFull(words) || /no space left on device/i.test(words)

function messageIn(body: string): string {
  try {
    return String((JSON.parse(body) as { message?: unknown }).message)
  } catch {
    return body.slice(0, 500)
  }
}

/** Between the end of one ping and the next, in ms. */
const pingInterval = 1_000

/**
 * Long call with a health check: aborts it as soon as the engine does not answer a ping meanwhile, so that a long limit
 * does not hide an unreachable engine behind a slow one.
 * @param ask must end when its signal aborts, with the signal's reason
 * @throws what `ask` throws; {RuntimeError} `unreachable` when a ping is not answered; the reason of the caller's
 *   signal
 */
export async function withHealthCheck<T>(
  client: Pick<EngineClient, 'ping'>,
  ask: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const [unreachable, done] = [new AbortController(), new AbortController()]
  void pingUntilDone(client, unreachable, done.signal)
  try {
    return await ask(signal ? AbortSignal.any([unreachable.signal, signal]) : unreachable.signal)
  } finally {
    done.abort()
  }
}

/** Never rejects. */
async function pingUntilDone(
  client: Pick<EngineClient, 'ping'>,
  unreachable: AbortController,
  done: AbortSignal,
): Promise<void> {
  while (!done.aborted) {
    try {
      await client.ping()
    } catch (error) {
      return unreachable.abort(error)
    }
    await sleep(pingInterval, undefined, { signal: done, ref: false }).catch(() => undefined)
  }
}
