import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refusals } from '#/refusals/errors.ts'

/** Max query parameters that are parsed; no endpoint has a third as many. */
const maxQueryKeys = 64

/**
 * Parameters of a query or of a form; a name that is repeated has a list of its values. A request head has room for 15,000 parameters.
 * Not `querystring.parse`, which looks at each character: it took 60 us for a token of 20,000.
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  const parameters = Object.create(null) as Record<string, string | string[]>
  // It would take a `?` at the very beginning, as of `/path??name=value`, for no part of the name.
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
 * restore whose body was cut short restored the whole home.
 *
 * The header is removed, because Fastify answers 415 to what is no media type, such as `json`, before it asks a parser.
 * No protection against CSRF is lost with it: a page of another site may send JSON as `text/plain`, or without the
 * header, and no preflight asks for either. `csrf-protection.ts` refuses such a page by `Sec-Fetch-Site`, `Origin` and
 * the CSRF token, before the body is read.
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
      if (endpoint.isAnyBodyAccepted) done(null, undefined)
      else done(refusals.notJson())
    }
  })
}

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
