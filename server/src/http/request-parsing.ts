import type { FastifyInstance, FastifyRequest } from 'fastify'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { refusals } from '#/refusals/errors.ts'

/** Max query parameters that are parsed; no endpoint has a third as many. */
const maxQueryKeys = 64

/**
 * Parameters of a query or of a form; a name that is repeated has a list of its values. A request head has room for
 * 15,000 parameters. Not `querystring.parse`, which looks at each character: it took 60 us for a token of 20,000.
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  const parameters = Object.create(null) as Record<string, string | string[]>
  // `URLSearchParams` would take a `?` at the very beginning, as of `/path??name=value`, for no part of the name.
  for (const [name, value] of new URLSearchParams(`&${text.split('&', maxQueryKeys).join('&')}`)) {
    const known = parameters[name]
    if (Array.isArray(known)) known.push(value)
    else parameters[name] = known === undefined ? value : [known, value]
  }
  return parameters
}

/**
 * Bodies are parsed as JSON whatever the content type, and endpoints without a body ignore it: many clients send `POST
 * /launch` with a JSON content type and zero bytes, which Fastify's own parser refuses. An optional body that is
 * missing counts as `{}`; one that is no JSON object does so only where the endpoint says that it takes anything: a
 * restore whose body was cut short restored the whole home. Also there a body that begins like JSON and is none is
 * refused: its parameters would be left out without a word.
 *
 * The header is removed, because Fastify answers 415 to what is no media type, such as `json`, before it asks a parser.
 * No protection against CSRF is lost with it: a page of another site may send JSON as `text/plain`, or without the
 * header, and no preflight asks for either. `authorize-request.ts` refuses such a page by `Sec-Fetch-Site`, `Origin`
 * and the CSRF token, before the body is read.
 */
export function acceptAnyJson(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _, done) => {
    delete request.raw.headers['content-type']
    done()
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const endpoint = request.routeOptions.config.endpoint
    if (!endpoint?.body || body === '') return done(null, undefined)
    if (endpoint.form) return done(null, parseQuery(String(body)))
    try {
      done(null, withoutPrototype(JSON.parse(String(body))))
    } catch {
      if (endpoint.isAnyBodyAccepted && !beginsLikeJson.test(String(body))) done(null, undefined)
      else done(refusals.notJson())
    }
  })
}

/** An object or a list that was meant; a byte order mark before it counts as a space. */
const beginsLikeJson = /^\s*[{[]/

/** For endpoints that take a file: the handler reads it as it comes, of whatever content type it says it is. */
export function leaveBodyUnread(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _body, done) => done(null, undefined))
}

/** `preValidation` of an endpoint whose body is optional. */
export async function completeBody(request: FastifyRequest): Promise<void> {
  const { endpoint } = request.routeOptions.config
  if (request.body === undefined || (endpoint?.isAnyBodyAccepted && !isObject(request.body))) request.body = {}
}

/** `{"__proto__": {"email": ...}}` must not pass for an e-mail address: only own properties count. */
function withoutPrototype(value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.assign(
    Object.create(null) as object,
    Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__')),
  )
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * `preValidation` of an endpoint that redirects: browsers navigate there, and an error would be shown in the place of a
 * page. A parameter of it that is repeated, or longer than it takes, counts as missing.
 */
export async function dropUnfitParameters(request: FastifyRequest): Promise<void> {
  const endpoint = request.routeOptions.config.endpoint as Endpoint | undefined
  const query = request.query as Record<string, unknown>
  for (const [name, maxLength] of limitsOf(endpoint?.query)) {
    const value = query[name]
    if (typeof value !== 'string' || value.length > maxLength) delete query[name]
  }
}

/** Max length of each parameter that a schema has. */
function limitsOf(schema: Endpoint['query']): [name: string, maxLength: number][] {
  const { properties = {} } = Object(schema) as { properties?: Record<string, { maxLength?: number }> }
  return Object.entries(properties).map(([name, { maxLength = Infinity }]) => [name, maxLength])
}

/** The parameters that were sent once, and are left, as a query of their own. */
export function singleParameters(query: object): string {
  const single = Object.entries(query).filter((each): each is [string, string] => typeof each[1] === 'string')
  return `?${new URLSearchParams(single)}`
}

/** Whether the fixed parts of the route's path are in the address literally, not percent-encoded. */
export function isSpelledAsRoute({ url, routeOptions }: FastifyRequest): boolean {
  const pattern = routeOptions.url
  if (pattern === undefined || !url.includes('%')) return true
  const sent = sentParts(url)
  return pattern.split('/').every((part, at) => part.startsWith(':') || part === '*' || part === sent[at])
}

/**
 * Puts ids into the request's parameters as they were sent: `%31` is no id, though the router has decoded it to one.
 */
export function keepIdsAsSent({ url, routeOptions, params }: FastifyRequest): void {
  const pattern = routeOptions.url
  if (pattern === undefined || !url.includes('%')) return
  const sent = sentParts(url)
  for (const [at, part] of pattern.split('/').entries())
    if (/^:(?:\w+_)?id$/.test(part)) (params as Record<string, unknown>)[part.slice(1)] = sent[at]
}

const sentParts = (url: string) => (url.split('?', 1)[0] ?? '').split('/')

/** For a known path with another method the response lists its methods; the operator's endpoints are not listed. */
export function notFound(request: FastifyRequest): Error {
  const path = request.url.split('?', 1)[0] ?? ''
  const allowed =
    path.length > maxPathLength
      ? []
      : knownPaths.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  return allowed.length > 0 ? refusals.wrongMethod([...new Set(allowed)]) : refusals.notFound('address')
}

/** Max characters of a path that is compared with those of the endpoints. */
const maxPathLength = 2_048

const patternOf = (path: string) => new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)

/** Created once: dozens of patterns are too much work for a request to an unknown address. */
const knownPaths = Object.values<Endpoint>(endpoints)
  .filter(({ access }) => access !== 'operator')
  .map(({ method, path }) => ({ method, pattern: patternOf(path) }))
