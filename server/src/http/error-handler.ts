import { refusalHeader } from '@berth/api/schemas/error.ts'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { requestIdHeader, runForRequest } from '#/machine/request-context.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { explainValidation } from './explain-validation.ts'
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
