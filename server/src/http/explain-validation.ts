import type { Endpoint } from '@berth/api/endpoints.ts'
import type { FastifyError, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'

/** Explains why a request does not match the schema of its endpoint, and what is expected. */
export function explainValidation(error: FastifyError, request: FastifyRequest): Refusal {
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

/** Name of the first invalid value, and its problem. */
function whatIsWrong({ validation }: FastifyError): { place: string | LocalizedMessage; problem: LocalizedMessage } {
  const [first] = validation ?? []
  const place = first?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  return { place: place === '' ? message('requests.it') : place, problem: problemOf(first) }
}

/** The validator's text in English, except for instants, and a translation of it, for every keyword that the endpoint table uses. */
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
