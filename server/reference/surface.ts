import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { sharedShapes } from './fields.ts'
import { ErrorBody } from '@berth/api/schemas/error.ts'
import type Type from 'typebox'

/** The parts of JSON Schema whose change is a change of the API for programs that call it. */
interface Schema {
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
}

const introduction = `# The surface of the API: what programs that call it depend on. "npm test -- repository --test-update-snapshots" writes it anew.
# A line that goes or changes breaks programs; a line that is new does not. A field with "?" may be missing.`

/** Longest line, in characters; fields that do not fit go on in the next line. */
const width = 140

/**
 * The compact list of the API's endpoints, api/surface.txt: of each its method, path, access and scope, the fields of its requests and
 * answers with their types, and the statuses of its refusals. Descriptions and limits are not in it.
 */
export function apiSurface(): string {
  const rows = Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => endpointLines(name, endpoint))
  const shapes = Object.entries(sharedShapes).map(([name, schema]) => part(name, fieldsOf(schema as Schema)))
  return `${[introduction, ...rows, ['Shared objects', ...shapes].join('\n')].join('\n\n')}\n`
}

function endpointLines(name: string, endpoint: Endpoint): string {
  const { method, path, params, query, body, upload, headers, refusals } = endpoint
  const access = [
    endpoint.access,
    ...(endpoint.access === 'user' && endpoint.blocked === 'may read' ? ['blocked users too'] : []),
    ...(endpoint.forOperator ? ['operator too'] : []),
    ...(endpoint.scope ? [`scope ${endpoint.scope}`] : []),
    ...(endpoint.guarded ? ['CSRF token'] : []),
    ...(endpoint.endsTakeover ? ['expired takeover too'] : []),
  ]
  return [
    `${method} ${path}  ${name}; ${access.join(', ')}`,
    ...(params ? [part('path', fieldsOf(params as Schema))] : []),
    ...(query ? [part('query', fieldsOf(query as Schema))] : []),
    ...(body ? [part(bodyName(endpoint), fieldsOf(body as Schema))] : []),
    ...(upload ? [part('file', upload)] : []),
    ...answerLines(endpoint),
    ...(headers ? [part('headers', Object.keys(headers))] : []),
    ...(Object.keys(refusals).length > 0 ? [part('refusals', Object.entries(refusals).map(refusal))] : []),
  ].join('\n')
}

const bodyName = ({ form, isBodyOptional }: Endpoint) => `${form ? 'form' : 'body'}${isBodyOptional ? '?' : ''}`

function answerLines({ response, stream, file, inParts, redirects }: Endpoint): string[] {
  if (redirects !== undefined) return ['  answer: redirect']
  if (file !== undefined) return [`  answer: ${file}${inParts ? ', in parts' : ''}`]
  if (stream) return Object.entries(stream).map(([event, data]) => part(`event ${event}`, fieldsOf(data as Schema)))
  return [part('answer', fieldsOf((response ?? {}) as Schema))]
}

/** The status, with the fields that a refusal has beside the sentence that all have. */
function refusal([status, schema]: readonly [string, Type.TSchema]): string {
  if (schema === ErrorBody) return status
  return `${status} ${typeOf(schema as Schema)}`
}

/** Fields with their types. What is no object with fields is its type alone. */
function fieldsOf(schema: Schema): string[] {
  const { properties, required = [] } = schema
  if (!properties) return [typeOf(schema)]
  return Object.entries(properties).map(
    ([name, each]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(each)}`,
  )
}

function typeOf(schema: Schema): string {
  const shared = Object.entries(sharedShapes).find(([, shape]) => shape === (schema as Type.TSchema))
  if (shared) return shared[0]
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.items) return schema.items.anyOf ? `(${typeOf(schema.items)})[]` : `${typeOf(schema.items)}[]`
  if (typeof schema.additionalProperties === 'object') return `{ *: ${typeOf(schema.additionalProperties)} }`
  if (schema.properties) return `{ ${fieldsOf(schema).join(', ')} }`
  return schema.format ?? schema.type ?? 'any'
}

/** A named list whose entries are kept whole, in lines of at most `width` characters where an entry alone is not longer. */
function part(name: string, entries: readonly string[]): string {
  const lines = [`  ${name}:`]
  entries.forEach((entry, index) => {
    const text = index < entries.length - 1 ? `${entry},` : entry
    const isFull = (lines.at(-1) ?? '').length + 1 + text.length > width
    if (isFull) lines.push(`    ${text}`)
    else lines[lines.length - 1] += ` ${text}`
  })
  return lines.join('\n')
}
