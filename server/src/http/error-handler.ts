import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '@berth/api/endpoints.ts'
import { Refusal, refusals } from '#/errors.ts'
import { StoreFailure } from '#/store/store-failure.ts'

/** Largest body of an API request, in bytes; a list of 1,000 ids needs a tenth of it. */
export const bodyLimit = 64 * 1024

/** Answers depend on who asks and hold private data: nothing between us and the browser may keep them. */
export const apiHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  vary: 'Authorization, Cookie, Origin',
} as const

/**
 * The edge: refusals become their answer, everything else is a bug or a broken dependency, is logged here once with
 * its cause, and reaches the client as one plain sentence.
 */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = toRefusal(error, request)
  // A refusal without a cause is expected, whatever its status: nobody has to mend anything.
  if (refusal.status >= 500 && (refusal.cause !== undefined || !(error instanceof Refusal)))
    request.log.error({ err: refusal.cause ?? error }, `${request.method} ${routeOf(request)} failed`)
  return (
    reply
      .status(refusal.status)
      // Of an address that cannot be read the framework calls no hook that would have set them.
      .headers({ ...apiHeaders, ...refusal.headers })
      .send({ error: refusal.message, ...refusal.extra })
  )
}

/** The pattern, never the address: addresses carry tokens. */
export const routeOf = (request: FastifyRequest) => request.routeOptions.url ?? 'unknown route'

function toRefusal(error: unknown, request: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error
  return error instanceof StoreFailure ? refusals.storeFailed(error) : fromFramework(error as FastifyError, request)
}

/** Fastify's own errors in our words; what is not one of them is ours to mend. */
function fromFramework(error: FastifyError, request: FastifyRequest): Refusal {
  if (error.validation) return refusals.badRequest(explain(error, request))
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refusals.tooLarge(bodyLimit)
  if (error.code === 'FST_ERR_BAD_URL')
    return refusals.badRequest('The address is not valid: % begins a byte of two hexadecimal digits.')
  const status = error.statusCode ?? 500
  if (status >= 400 && status < 500) return new Refusal(status, error.message)
  return new Refusal(500, 'Something went wrong on our side. It was logged; try again.', { cause: error })
}

/** What was wrong with the request, and what would be right. */
function explain(error: FastifyError, request: FastifyRequest): string {
  const endpoint = request.routeOptions.config.endpoint as Endpoint | undefined
  if (error.validationContext === 'body') return explainBody(error, request, endpoint)
  if (endpoint?.path.includes('/verify-')) return refusals.missingToken().message
  return `The ${places[error.validationContext ?? ''] ?? 'request'} is not right: ${sentence(error)}`
}

/** Fastify's names of the parts of a request, in ours. */
const places: Record<string, string> = { querystring: 'query', params: 'path', headers: 'header' }

function explainBody(error: FastifyError, request: FastifyRequest, endpoint: Endpoint | undefined): string {
  const { body } = request
  if (body === undefined || body === null) return missing(endpoint)
  const missingProperty = error.validation?.[0]?.params?.missingProperty
  if (missingProperty === 'email') return refusals.missingEmail().message
  return `The body is not right: ${sentence(error)}`
}

const missing = (endpoint: Endpoint | undefined) =>
  endpoint?.path.startsWith('/api/auth/')
    ? refusals.missingBody().message
    : 'The request has no body. Send JSON such as {"container_ids": [1, 2]}.'

/** Ajv's words with a name for the place. */
function sentence(error: FastifyError): string {
  const [first] = error.validation ?? []
  const place = first?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  return `${place === '' ? 'it' : place} ${first?.message ?? 'is not valid'}.`
}
