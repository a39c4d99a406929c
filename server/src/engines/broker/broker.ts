import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connectionsCheckingInterval, createServer } from '@berth/gateway/basics/bind.ts'
import type { EngineAddress } from '#/engines/docker/engine-address.ts'
import { BuildCheck } from './build-check.ts'
import { CreateCheck, type Allowances } from './create-check.ts'
import { EngineFailure, EngineForward, refuse, refuseRaw } from './engine-forward.ts'
import { EngineObjects, Refused, type InstallationLock } from './installation-objects.ts'
import type { PulledImages } from './pulled-images.ts'
import { engineVerbs, type Approved, type Verb } from './verbs.ts'

/** Limits of bodies in JSON, which Berth sends at once: in ms, and in bytes of all at the same time. */
const bodyLimits = { timeout: 10_000, maxTotal: 32 * 1024 * 1024 }
/**
 * Above the sum of the client's pools (connection-pools.ts) and of its programs in containers, twice: an old API ends
 * beside a new one.
 */
const maxConnections = 8_192
/** Max characters of the client's words in a line of the log, which it could fill the disk with. */
const maxWords = 500
/** Max bytes of the body before a connection that is given over: two words in JSON, which are not looked at. */
const maxHijackBody = 256
/** In ms: how long the head of a request may take. Bodies may be homes, which take hours. */
const headersTimeout = 10_000

export interface BrokerParts {
  readonly engine: EngineAddress
  readonly allowances: Allowances
  readonly mountRoots: readonly string[]
  readonly installation: InstallationLock
  readonly pulled: PulledImages
  /** Gets a line for each request that is refused; no body, and no text of an environment. */
  readonly log: (line: string) => void
  /** Those of `bodyLimits` when undefined. */
  readonly limits?: JsonBodyLimits
}

/**
 * The broker of the engine's socket: a server that speaks as much of the engine's HTTP API as Berth uses, for one
 * installation.
 * - A verb that is not in `engineVerbs` is refused, and so is a parameter or a key of a body that Berth does not send.
 * - Requests are made anew from what was parsed and checked, so the engine reads nothing that the broker read
 *   differently.
 * - Containers, volumes and networks of others are never changed nor shown.
 * A container that it makes has no more rights than Berth gives each, plus what the operator allows (`Allowances`).
 * @returns a server that does not listen yet
 */
export function createEngineBroker({ limits = bodyLimits, ...parts }: BrokerParts): Server {
  const { engine, allowances, mountRoots, installation, pulled, log } = parts
  const forward = new EngineForward(engine)
  const objects = new EngineObjects(forward, installation)
  const create = new CreateCheck({ allowances, mountRoots, installation, objects })
  const build = new BuildCheck({ allowances, installation, objects })
  const verbs = engineVerbs({ objects, installation, create, build, pulled })
  const bodies = new JsonBodies(limits)
  const busy = new WeakSet<Socket>()
  const server = createServer({ headersTimeout, requestTimeout: 0, connectionsCheckingInterval }, (request, answer) => {
    // Pipelined requests would each have a connection to the engine, and so pass the limit of connections.
    if (busy.has(request.socket)) return void request.socket.destroy()
    busy.add(request.socket)
    answer.once('close', () => busy.delete(request.socket))
    serve({ verbs, bodies }, forward, request, answer).catch((error: unknown) =>
      answerFailure(request, answer, error, log),
    )
  })
  server.maxConnections = maxConnections
  server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    connection.on('error', () => connection.destroy())
    serveHijack(verbs, forward, { request, connection, head }).catch((error: unknown) =>
      answerFailure(request, connection, error, log),
    )
  })
  return server
}

interface HijackRequest {
  readonly request: IncomingMessage
  readonly connection: Duplex
  /** What has come behind the head of the request. */
  readonly head: Buffer
}

async function serveHijack(
  verbs: readonly Verb[],
  engine: EngineForward,
  { request, connection, head }: HijackRequest,
): Promise<void> {
  const { version, path, query } = partsOf(request.url ?? '')
  const verb = verbs.find((each) => each.isHijacked && each.method === request.method && each.path.test(path))
  if (!verb || query.size > 0) throw new Refused('Berth does not use this call')
  const length = Number(request.headers['content-length'] ?? 0)
  if (!(length <= maxHijackBody)) throw new Refused(`its body has more than ${maxHijackBody} bytes`)
  if (head.length < length) throw new Refused('its body does not come with its head')
  const approved = await verb.approve({ names: verb.path.exec(path)?.slice(1) ?? [], query, body: undefined })
  if (connection.destroyed) return
  if (!approved) return refuseRaw(connection, 404, 'No such exec instance')
  if (head.length > length) connection.unshift(head.subarray(length))
  engine.hijack(connection, `${version}${approved.path}`, JSON.stringify(approved.body))
}

async function serve(
  { verbs, bodies }: { readonly verbs: readonly Verb[]; readonly bodies: JsonBodies },
  engine: EngineForward,
  request: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const { version, path, query } = partsOf(request.url ?? '')
  const verb = verbs.find((each) => !each.isHijacked && each.method === request.method && each.path.test(path))
  if (!verb) throw new Refused('Berth does not use this call')
  const strange = [...query.keys()].find((key) => !verb.query.includes(key) || query.getAll(key).length > 1)
  if (strange !== undefined) throw new Refused(`the parameter ${strange} is not one that Berth sends`)
  const names = verb.path.exec(path)?.slice(1) ?? []
  const body = verb.body === 'json' ? await bodies.read(request) : undefined
  const approved = await verb.approve({ names, query, body })
  // It went away meanwhile, and no event of it will come: an answer that never ends would be held for ever.
  if (answer.closed || request.socket.destroyed) return
  if (!approved) return refuse(answer, 404, missing(path))
  const search = query.size > 0 ? `?${query.toString()}` : ''
  engine.forward(request, answer, {
    method: verb.method,
    path: `${version}${approved.path}${search}`,
    headers: headersFor(request, verb, approved),
    body: bodyFor(verb, approved),
    shown: approved.shown ?? verb.shown,
    onAnswer: approved.onAnswer,
    onEnd: approved.onEnd,
  })
}

/** What the engine refuses is its own answer; anything else has a line in the log. */
function answerFailure(
  request: IncomingMessage,
  answer: ServerResponse | Duplex,
  error: unknown,
  log: BrokerParts['log'],
): void {
  const say = (status: number, message: string, body?: string) =>
    'headersSent' in answer ? refuse(answer, status, message, body) : refuseRaw(answer, status, message, body)
  if (error instanceof EngineFailure) return say(error.status, error.message, error.body)
  const isRefused = error instanceof Refused
  const words = (error instanceof Error ? error.message : String(error)).slice(0, maxWords)
  log(
    `${isRefused ? 'refused' : 'failed'}: ${request.method} ${request.url?.split('?')[0]?.slice(0, maxWords)}: ${words}`,
  )
  const what = isRefused
    ? 'the broker of the engine’s socket refuses this: '
    : 'the broker of the engine’s socket failed: '
  if ('headersSent' in answer && answer.headersSent) answer.destroy()
  else say(isRefused ? 403 : 502, what + words)
}

/** In the words of the engine, which Berth tells from those of a proxy that knows no such path. */
function missing(path: string): string {
  const [, kind = 'container', name = ''] = /^\/(container|volume|network|image)s\/([^/]+)/.exec(path) ?? []
  return `No such ${kind}: ${name}`
}

/**
 * Versions of the API before 1.40 are not served: they tell more, such as all members of all networks.
 * @throws {Refused} for a path that can be read in two ways
 */
function partsOf(url: string): { version: string; path: string; query: URLSearchParams } {
  const [, version = '', path = '', search = ''] = /^(\/v1\.[4-9]\d)?(\/[\w./%:@-]*)(?:\?(.*))?$/.exec(url) ?? []
  if (path === '' || path.split('/').some((part) => part === '.' || part === '..') || /%(?!3A|40)/i.test(path))
    throw new Refused('its path is not one that Berth sends')
  return { version, path, query: new URLSearchParams(search) }
}

/** Undefined: the client's, as it comes. */
function bodyFor(verb: Verb, { body, archive }: Approved): string | undefined {
  if (archive !== undefined) return archive
  if (verb.body === 'stream') return undefined
  return body === undefined ? '' : JSON.stringify(body)
}

function headersFor({ headers }: IncomingMessage, verb: Verb, { body, archive }: Approved): Record<string, string> {
  if (archive !== undefined) return { 'content-type': 'application/x-tar' }
  if (body !== undefined) return { 'content-type': 'application/json' }
  if (verb.body !== 'stream') return {}
  const { 'content-type': type, 'content-length': length, 'x-registry-auth': auth } = headers
  return {
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(length === undefined ? {} : { 'content-length': length }),
    ...(typeof auth === 'string' ? { 'x-registry-auth': auth } : {}),
  }
}

/** Max bytes of a body in JSON: an environment of secrets and settings. */
const maxBody = 1024 * 1024
/**
 * Max values in a body: each variable of an environment is one, and a few dozen others. Checking a value costs
 * microseconds, and no other request is served meanwhile: 340,000 empty strings, which fit into `maxBody`, would take
 * 1.4 s.
 */
const maxValues = 8_192

interface JsonBodyLimits {
  /** In ms: how long a body may take. */
  readonly timeout: number
  /** Max bytes of all bodies that are being read at the same time. */
  readonly maxTotal: number
}

/** Reads bodies in JSON, within limits: many that never end would otherwise take up the memory of the host. */
class JsonBodies {
  readonly #limits: JsonBodyLimits
  #total = 0

  constructor(limits: JsonBodyLimits) {
    this.#limits = limits
  }

  /**
   * @throws {Refused} when it is too long or too slow, when too much is being read, when it has too many values, or
   *   when it is no JSON
   */
  async read(request: IncomingMessage): Promise<unknown> {
    const { timeout, maxTotal } = this.#limits
    const chunks: Buffer[] = []
    let length = 0
    const timer = setTimeout(() => request.destroy(new Refused(`its body takes more than ${timeout} ms`)), timeout)
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        length += chunk.length
        this.#total += chunk.length
        if (length > maxBody) throw new Refused(`its body has more than ${maxBody} bytes`)
        if (this.#total > maxTotal) throw new Refused('too many bodies are being read; ask again later')
        chunks.push(chunk)
      }
      return withFewValues(parseJson(Buffer.concat(chunks).toString()))
    } finally {
      clearTimeout(timer)
      this.#total -= length
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refused('its body is no JSON')
  }
}

/**
 * @returns the body
 * @throws {Refused} when it has more than `maxValues`, at any depth; it looks at no more than that
 */
function withFewValues(body: unknown): unknown {
  const left = [body]
  let count = 1
  while (left.length > 0) {
    const value = left.pop()
    const inside: unknown[] = value instanceof Object ? Object.values(value) : []
    count += inside.length
    if (count > maxValues) throw new Refused(`its body has more than ${maxValues} values`)
    left.push(...inside)
  }
  return body
}
