import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import type { Endpoint } from '@berth/api/endpoints.ts'
import { refusalHeader } from '@berth/api/schemas/error.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { requestIdHeader, runForRequest } from '#/machine/log-context.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { requestedLanguage } from './localized-reply.ts'

/** Max body of an API request, in bytes; a list of 1,000 ids needs a tenth of it. */
export const bodyLimit = 64 * 1024

/**
 * Responses depend on the caller and hold private data: no cache may store them. One that is opened as a document, such as the
 * refusal of a provider's callback, has an address with a code in it: in a sandbox it has an origin of its own, so that pages
 * of containers neither read it nor see its address.
 */
export const apiHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  vary: 'Authorization, Cookie, Origin',
} as const

/**
 * Error handler: a refusal becomes its response; any other error is a bug or a broken dependency, is logged here once
 * with its cause, and reaches the client as one plain sentence, in their language.
 */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = toRefusal(error, request)
  // A refusal without a cause is expected, whatever its status, and not logged.
  if (refusal.status >= 500 && (refusal.cause !== undefined || !(error instanceof Refusal)))
    runForRequest(request.id, () =>
      request.log.error({ err: refusal.cause ?? error }, `${request.method} ${routeOf(request)} failed`),
    )
  const language = requestedLanguage(request)
  return (
    reply
      .status(refusal.status)
      // For an address that cannot be parsed the framework calls no hook that would have set them.
      .headers({
        ...apiHeaders,
        [requestIdHeader]: request.id,
        ...contentLanguage(language),
        ...nameOf(refusal),
        ...refusal.headers,
      })
      .send({ error: localize(language, refusal.sentence), ...refusal.extra })
  )
}

const nameOf = ({ code }: Refusal) => (code === undefined ? {} : { [refusalHeader]: code })

/** The pattern, never the address: addresses carry tokens. */
export const routeOf = (request: FastifyRequest) => request.routeOptions.url ?? 'unknown route'

function toRefusal(error: unknown, request: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error
  return error instanceof StoreFailure ? refusals.storeFailed(error) : fromFramework(error as FastifyError, request)
}

/** Translates Fastify's own errors; any other error is a bug. */
function fromFramework(error: FastifyError, request: FastifyRequest): Refusal {
  if (error.validation) return explainValidation(error, request)
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refusals.tooLarge(bodyLimit)
  if (error.code === 'FST_ERR_BAD_URL') return refusals.badRequest(message('requests.badAddress'))
  const status = error.statusCode ?? 500
  if (status >= 400 && status < 500) return new Refusal(status, message('requests.framework', { said: error.message }))
  return new Refusal(500, message('refusals.bug'), { cause: error })
}

/** Explains why a request does not match the schema of its endpoint, and what is expected. */
function explainValidation(error: FastifyError, request: FastifyRequest): Refusal {
  const endpoint = request.routeOptions.config.endpoint as Endpoint | undefined
  if (error.validationContext === 'body') return explainBody(error, request, endpoint)
  if (endpoint?.path.includes('/verify-')) return refusals.missingToken()
  return refusals.badRequest(
    message(messageKeys[error.validationContext ?? ''] ?? 'requests.badRequest', whatIsWrong(error)),
  )
}

/** Fastify's names of the parts of a request. */
const messageKeys: Readonly<Record<string, 'requests.badQuery' | 'requests.badPath' | 'requests.badHeader'>> = {
  querystring: 'requests.badQuery',
  params: 'requests.badPath',
  headers: 'requests.badHeader',
}

function explainBody(error: FastifyError, request: FastifyRequest, endpoint: Endpoint | undefined): Refusal {
  const { body } = request
  if (body === undefined || body === null) return missing(endpoint)
  const missingProperty = error.validation?.[0]?.params?.missingProperty
  if (missingProperty === 'email') return refusals.missingEmail()
  return refusals.badRequest(message('requests.badBody', whatIsWrong(error)))
}

function missing(endpoint: Endpoint | undefined): Refusal {
  if (endpoint?.path.startsWith('/api/auth/')) return refusals.missingBody()
  if (endpoint?.path.includes('/users/bulk-')) return refusals.badRequest(message('requests.missingUserIds'))
  if (endpoint?.path.includes('/containers/bulk-')) return refusals.badRequest(message('requests.missingIds'))
  const { required = [] } = Object(endpoint?.body) as { required?: readonly string[] }
  return refusals.badRequest(message('requests.missingFields', { names: list('comma', required) }))
}

/**
 * Name of the first invalid value, and its problem. Where a value may be one of several, each of these has a problem with it: that
 * which lies deepest is of the one that was meant.
 */
function whatIsWrong({ validation = [] }: FastifyError): {
  place: string | LocalizedMessage
  problem: LocalizedMessage
} {
  const depth = ({ instancePath }: FastifySchemaValidationError) => instancePath.split('/').length
  const [found] = validation.toSorted((one, other) => depth(other) - depth(one))
  const place = found?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  return { place: place === '' ? message('requests.it') : place, problem: problemOf(found) }
}

/**
 * The validator's text in English, except for instants, and a translation of it, for every keyword that the endpoint
 * table uses.
 */
function problemOf(problem: FastifySchemaValidationError | undefined): LocalizedMessage {
  if (problem === undefined) return message('requests.invalid')
  const { keyword, params, message: said = '' } = problem
  const limit = Number(params.limit)
  switch (keyword) {
    case 'type':
      return message('requests.type', { type: String(params.type) })
    case 'required':
      return message('requests.required', { name: String(params.missingProperty) })
    case 'pattern':
      return message('requests.pattern', { pattern: String(params.pattern) })
    case 'format':
      if (params.format === 'date-time') return message('requests.instant')
      return message('requests.format', { format: String(params.format) })
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
    case 'minimum':
    case 'maximum':
      return message(`requests.${keyword}`, { limit })
    case 'enum':
    case 'const':
    case 'anyOf':
    case 'additionalProperties':
      return message(`requests.${keyword}`)
    default:
      return message('requests.otherProblem', { said })
  }
}
