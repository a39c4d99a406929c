import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parse as parseQueryString } from 'node:querystring'
import { refusals } from '#/errors.ts'

/** Max query parameters that are parsed; no endpoint has a third as many. */
const maxQueryKeys = 64

/** Parameters of a query or of a form. A request head has room for 15,000 of them. */
export const parseQuery = (text: string) => parseQueryString(text, '&', '=', { maxKeys: maxQueryKeys })

/**
 * Bodies are parsed as JSON whatever the content type, and endpoints without a body ignore it: many clients send `POST
 * /launch` with a JSON content type and zero bytes, which Fastify's own parser refuses. An optional body that is
 * missing, or no JSON object, counts as `{}`: the specification has none for it, and clients send anything there.
 */
export function acceptAnyJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const endpoint = request.routeOptions.config.endpoint
    if (!endpoint?.body || body === '') return done(null, undefined)
    if (endpoint.form) return done(null, parseQuery(String(body)))
    try {
      done(null, withoutPrototype(JSON.parse(String(body))))
    } catch {
      if (endpoint.isBodyOptional) done(null, undefined)
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
  if (!isObject(request.body)) request.body = {}
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
