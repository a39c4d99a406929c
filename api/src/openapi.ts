import type Type from 'typebox'
import { endpoints, type Endpoint } from './endpoints.ts'
import { ErrorBody } from './schemas/error.ts'

/**
 * The table as an OpenAPI 3.1 document. Nothing is written by hand, so it cannot drift from what the server does.
 * @param server base address of the API, e.g. `https://spawner.example.org`
 */
export function openApiDocument(server: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
    // Readers of the public document cannot reach the operator's endpoints.
    if (endpoint.access === 'operator') continue
    const operations = (paths[endpoint.path] ??= {})
    operations[endpoint.method.toLowerCase()] = operation(name, endpoint)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Berth',
      version: '1.0.0-rc.1',
      description: 'Container launch service',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    paths,
    components: {
      responses: commonRefusals,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'spawner_token' },
        apiToken: { type: 'http', scheme: 'bearer', description: 'API token with the scope that is named' },
      },
    },
  }
}

function operation(name: string, endpoint: Endpoint): Record<string, unknown> {
  return {
    operationId: name,
    summary: endpoint.summary,
    tags: [endpoint.path.split('/')[2] ?? 'system'],
    ...(endpoint.access === 'public' ? {} : { security: securityOf(endpoint) }),
    parameters: [...parameters('path', endpoint.params), ...parameters('query', endpoint.query)],
    ...(endpoint.upload ? { requestBody: { required: true, content: files(endpoint.upload) } } : {}),
    ...(endpoint.body ? { requestBody: { required: !endpoint.isBodyOptional, content: bodyOf(endpoint) } } : {}),
    responses: responses(endpoint),
  }
}

/** Any of these. Source of the scope's place: OpenAPI 3.1.0, Security Requirement Object ("role names"). */
const securityOf = ({ scope }: Endpoint) => [
  { bearer: [] },
  { cookie: [] },
  ...(scope === undefined ? [] : [{ apiToken: [scope] }]),
]

function parameters(location: 'path' | 'query', schema: Type.TSchema | undefined): unknown[] {
  const object = schema as { properties?: Record<string, Type.TSchema>; required?: string[] } | undefined
  return Object.entries(object?.properties ?? {}).map(([name, each]) => ({
    name,
    in: location,
    required: object?.required?.includes(name) ?? false,
    schema: each,
  }))
}

function responses(endpoint: Endpoint): Record<string, unknown> {
  const refused = Object.entries(refusalSchemas(endpoint)).map(([status, schema]) => [status, refusal(status, schema)])
  return { ...success(endpoint), ...Object.fromEntries(refused) }
}

/** Every status that an endpoint may refuse with, and what it means, in the order of the statuses. */
export const refusalMeanings = (endpoint: Endpoint): (readonly [status: string, meaning: string])[] =>
  Object.keys(refusalSchemas(endpoint)).map((status) => [status, meanings[status] ?? ''])

/** What the table names, plus what access alone can answer: 401 without a token, 403 without role or scope, 429 with too many at once. */
function refusalSchemas(endpoint: Endpoint): Record<number, Type.TSchema> {
  const schemas: Record<number, Type.TSchema> = {}
  if (endpoint.access !== 'public') Object.assign(schemas, { 401: ErrorBody, 429: ErrorBody })
  if (endpoint.access === 'admin' || endpoint.access === 'user') schemas[403] = ErrorBody
  return Object.assign(schemas, endpoint.refusals)
}

function success(endpoint: Endpoint): Record<string, unknown> {
  const { stream, file, inParts, response: body, headers, redirects, status = 200 } = endpoint
  if (redirects !== undefined)
    return { 302: { description: redirects, headers: { Location: { schema: { type: 'string' } } } } }
  if (file !== undefined) {
    const part = inParts ? { 206: response('206', files([file])) } : {}
    return { 200: response('200', files([file])), ...part }
  }
  return {
    [status]: {
      ...response(String(status), stream ? events(stream) : json(body)),
      ...(headers ? { headers: headersOf(headers) } : {}),
    },
  }
}

const headersOf = (headers: NonNullable<Endpoint['headers']>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'integer' } }]),
  )

/** Refusals that most endpoints share made a third of the document, which is served without an account. */
function refusal(status: string, schema: Type.TSchema): object {
  const name = schema === ErrorBody ? refusalNames[status] : undefined
  return name === undefined ? response(status, json(schema)) : { $ref: `#/components/responses/${name}` }
}

const response = (status: string, content: object) => ({ description: meanings[status] ?? '', content })

/** OpenAPI has no words for server-sent events; each is described as the object of its fields, `data` being its JSON. */
function events(stream: NonNullable<Endpoint['stream']>): object {
  const each = Object.entries(stream).map(([event, data]) => ({
    type: 'object',
    required: ['event', 'data'],
    properties: { event: { const: event }, data },
  }))
  return { 'text/event-stream': { schema: { oneOf: each } } }
}

/** Bytes without a description of their own, as OpenAPI 3.1 has them. */
const files = (types: readonly string[]) => Object.fromEntries(types.map((type) => [type, {}]))

const bodyOf = ({ body, form }: Endpoint) =>
  form ? { 'application/x-www-form-urlencoded': { schema: body } } : json(body)

const json = (schema: Type.TSchema | undefined) => ({ 'application/json': { schema } })

const meanings: Record<string, string> = {
  200: 'Success',
  202: 'Accepted: it is done after the answer',
  206: 'The part that the header `Range` asks for',
  400: 'The request is incomplete or invalid; the message says why',
  401: 'No valid access token',
  403: 'Access denied: blocked, not verified, or not an administrator',
  404: 'Not found',
  409: 'The change would leave no active administrator, or conflicts with the current state',
  429: 'Rate limit: too many links for this address, or too many streams or requests of this user',
  500: 'A dependency failed',
  503: 'Not ready or overloaded; the body says why',
}

/** Names of refusals that have nothing but a sentence. */
const refusalNames: Readonly<Record<string, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'Failure',
  503: 'Unavailable',
}

const commonRefusals = Object.fromEntries(
  Object.entries(refusalNames).map(([status, name]) => [name, response(status, json(ErrorBody))]),
)
