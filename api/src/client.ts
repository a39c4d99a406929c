import { refusalHeader, type BlockedBody, type LaunchFailedBody } from './schemas/error.ts'
import {
  endpoints,
  type Answer,
  type Body,
  type EndpointName,
  type Endpoints,
  type JsonName,
  type Params,
  type Query,
  type UploadName,
} from './endpoints.ts'

/** The parts of a request that an endpoint's row in the table asks for. */
export type Input<N extends EndpointName> = (Params<N> extends undefined ? unknown : { params: Params<N> }) &
  (Query<N> extends undefined ? unknown : { query: Query<N> }) &
  (Body<N> extends undefined
    ? unknown
    : Endpoints[N] extends { readonly isBodyOptional: true }
      ? { body?: Body<N> }
      : { body: Body<N> })

/** One typed function per endpoint of the table that takes and answers JSON; streams and files are read as they come. */
export type Client = {
  [N in Exclude<JsonName, UploadName>]: unknown extends Input<N>
    ? () => Promise<Answer<N>>
    : (input: Input<N>) => Promise<Answer<N>>
}

/**
 * An answer that is not 2xx: `message` is the server's own sentence, `body` all that it sent, `refusal` the refusal's name
 * (`docs/reference/errors.md`), which has no language; undefined when it was a fault, or is not Berth's.
 */
export class ApiError extends Error {
  readonly status: number
  readonly body: Readonly<BlockedBody & LaunchFailedBody>
  readonly refusal: string | undefined

  constructor(status: number, body: ApiError['body'], refusal?: string) {
    super(body.error)
    this.name = 'ApiError'
    this.status = status
    this.body = body
    this.refusal = refusal
  }
}

/**
 * A client of the whole API.
 * @param send    how a request travels; the browser passes `fetch` with its CSRF header, tests pass a plain one
 * @param baseUrl prepended to every path; empty for the same origin
 * @param onAnswer is shown each answer before its body is read, for what is in headers alone (`linksLeftOf`)
 * @throws {ApiError} from every function, when the answer is not 2xx
 */
export function createClient(send: typeof fetch, baseUrl = '', onAnswer?: OnAnswer): Client {
  const call = (name: EndpointName) => (input?: RequestParts) => request({ send, baseUrl, onAnswer }, name, input ?? {})
  // The cast is the one place where a loop over names meets a type per name.
  return Object.fromEntries(names.map((name) => [name, call(name)])) as unknown as Client
}

/** Made once: pages make a client for each request that a person asks for. */
const names = (Object.keys(endpoints) as EndpointName[]).filter((name) =>
  ['stream', 'redirects', 'file', 'upload'].every((other) => !(other in endpoints[name])),
)

/** Must neither throw nor read the body. */
export type OnAnswer = (name: EndpointName, answer: Pick<Response, 'status' | 'headers'>) => void

interface Transport {
  readonly send: typeof fetch
  readonly baseUrl: string
  readonly onAnswer: OnAnswer | undefined
}

interface RequestParts {
  params?: Record<string, string>
  query?: Record<string, string | undefined>
  body?: unknown
}

async function request(
  { send, baseUrl, onAnswer }: Transport,
  name: EndpointName,
  parts: RequestParts,
): Promise<unknown> {
  const { method, path } = endpoints[name]
  const init: RequestInit = { method, credentials: 'same-origin' }
  if (parts.body !== undefined) {
    init.body = JSON.stringify(parts.body)
    init.headers = { 'content-type': 'application/json' }
  }
  const response = await send(baseUrl + fillPath(path, parts.params) + queryString(parts.query), init)
  onAnswer?.(name, response)
  if (!response.ok) throw await refusalIn(response)
  return response.json().catch(() => undefined) as unknown
}

/** What an answer that is not 2xx says. */
export async function refusalIn(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined)
  const { status } = response
  const refusal = response.headers.get(refusalHeader) ?? undefined
  return new ApiError(status, isErrorBody(body) ? body : { error: `The server answered ${status}.` }, refusal)
}

/** `/api/container/launch/{container_type}` with its holes filled, each value percent-encoded. */
export function fillPath(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

function queryString(query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

function isErrorBody(body: unknown): body is ApiError['body'] {
  return typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
}
