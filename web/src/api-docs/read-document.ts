/** An endpoint of the OpenAPI document, as the reference shows it. */
export interface Operation {
  /** Name of the function of the typed client. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  /** Whether it asks for an access token, and the scope that an API token needs; null when none is accepted. */
  readonly access: 'public' | 'user' | 'admin'
  readonly scope: string | null
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  /** False where a request without the body is valid; examples have none then. */
  readonly needsBody: boolean
  readonly answer: readonly Field[]
  /** Whether the answer is a stream of server-sent events. */
  readonly isStream: boolean
  readonly refusals: readonly { readonly status: string; readonly description: string }[]
}

export interface Parameter extends Field {
  readonly place: 'path' | 'query'
  readonly schema: Schema
}

/** Subjects with a heading of their own, by the tags of the document; all else is `other`. */
const subjects = ['auth', 'user', 'container', 'groups', 'admin', 'other'] as const
type Subject = (typeof subjects)[number]

/** Endpoints about one subject. */
export interface OperationGroup {
  readonly subject: Subject
  readonly operations: readonly Operation[]
}

/** Address of the API, and its endpoints by subject in the order of the document. */
interface Reference {
  readonly server: string
  readonly groups: readonly OperationGroup[]
}

interface DocumentOperation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query'
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>
}

interface Response {
  readonly description: string
  readonly content: Content
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

/** Reads the document of `GET /api/openapi.json`. */
export function readDocument(document: Readonly<Record<string, unknown>>): Reference {
  const { servers, components, paths } = document as unknown as {
    readonly servers: readonly { readonly url: string }[]
    readonly components?: { readonly responses?: Readonly<Record<string, Response>> }
    readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
  }
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, each]) => ({
      subject: subjects.find((subject) => subject === each.tags[0]) ?? 'other',
      operation: read(path, method, each, components?.responses ?? {}),
    })),
  )
  const groups = Map.groupBy(all, ({ subject }) => subject)
  return {
    server: servers[0]?.url ?? '',
    groups: [...groups].map(([subject, each]) => ({ subject, operations: each.map(({ operation }) => operation) })),
  }
}

/** @param common responses to which operations refer by their names */
function read(
  path: string,
  method: string,
  each: DocumentOperation,
  common: Readonly<Record<string, Response>>,
): Operation {
  const responses = Object.entries(each.responses).flatMap(([status, given]) => {
    const found = '$ref' in given ? common[given.$ref.replace('#/components/responses/', '')] : given
    return found ? [[status, found] as const] : []
  })
  const success = responses.find(([status]) => status === '200')?.[1]
  const json = success?.content['application/json']?.schema
  return {
    id: each.operationId,
    method: method.toUpperCase(),
    path,
    summary: each.summary,
    access: each.security === undefined ? 'public' : path.startsWith('/api/admin/') ? 'admin' : 'user',
    scope: each.security?.flatMap(({ apiToken = [] }) => apiToken)[0] ?? null,
    parameters: each.parameters.map((parameter) => ({
      ...toField(parameter),
      place: parameter.in,
      schema: parameter.schema,
    })),
    body: each.requestBody?.content['application/json']?.schema,
    needsBody: each.requestBody?.required ?? false,
    answer: fieldsOf(json),
    isStream: success?.content['text/event-stream'] !== undefined,
    refusals: responses
      .filter(([status]) => status !== '200')
      .map(([status, { description }]) => ({ status, description })),
  }
}

function toField({ name, required, schema }: DocumentOperation['parameters'][number]): Field {
  const [field] = fieldsOf({ properties: { [name]: schema }, required: required ? [name] : [] })
  return field as Field
}

/** Groups reduced to the endpoints whose name, path or summary has every word of the search. */
export function search(groups: readonly OperationGroup[], text: string): OperationGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ id, method, path, summary }: Operation) => {
    const all = `${id} ${method} ${path} ${summary}`.toLowerCase()
    return words.every((word) => all.includes(word))
  }
  return groups
    .map(({ subject, operations }) => ({ subject, operations: operations.filter(fits) }))
    .filter(({ operations }) => operations.length > 0)
}

/** A JSON schema, as far as the endpoint table uses them. */
interface Schema {
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  /** The schema of the values of a map. */
  readonly additionalProperties?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly minimum?: number
}

/** A row of a table of fields. */
export interface Field {
  /** Path within the object, e.g. `tokens[].id`. */
  readonly name: string
  /** e.g. `string`, `"read" | "write"`, `integer or null`. */
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
}

/** Deepest nesting whose fields are listed. */
const maxDepth = 4

/** The fields of an object, those of nested objects and lists after their parent. */
export function fieldsOf(schema: Schema | undefined, prefix = '', depth = 0): Field[] {
  if (schema === undefined || depth > maxDepth) return []
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([key, each]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`
    const field = {
      name,
      type: formatSchema(each),
      isRequired: required.includes(key),
      description: each.description ?? '',
    }
    return [field, ...nestedFields(each, name, depth + 1)]
  })
}

function nestedFields(schema: Schema, name: string, depth: number): Field[] {
  if (schema.items) return nestedFields(schema.items, `${name}[]`, depth)
  if (schema.additionalProperties) return nestedFields(schema.additionalProperties, `${name}.*`, depth)
  const object = schema.properties ? schema : schema.anyOf?.find(({ properties }) => properties !== undefined)
  return fieldsOf(object, name, depth)
}

/** The type of a value in words of JSON. */
function formatSchema({ type, format, const: constant, items, anyOf, oneOf }: Schema): string {
  if (constant !== undefined) return JSON.stringify(constant)
  const choices = anyOf ?? oneOf
  if (choices) return [...new Set(choices.map(formatSchema))].join(' | ')
  if (type === 'array') return `${items ? formatSchema(items) : 'any'}[]`
  return format ?? type ?? 'any'
}

/**
 * A value that fits a schema, for examples; optional fields are left out.
 * @param name of the field, for a telling text
 */
export function sampleOf(schema: Schema, name = ''): unknown {
  if (schema.const !== undefined) return schema.const
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice) return sampleOf(choice, name)
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [key, sampleOf(schema.properties?.[key] ?? {}, key)] as const),
      )
    case 'array':
      return [sampleOf(schema.items ?? {}, name)]
    case 'integer':
    case 'number':
      return samples[name] ?? schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      return samples[name] ?? name
  }
}

/** Values that say more than the name of their field. */
const samples: Readonly<Record<string, string | number>> = {
  email: 'ann@example.org',
  emails: 'ann@example.org',
  name: 'backup',
  expires_in: 2_592_000,
  id: '7',
  container_type: 'dev',
  reason: 'support',
  token: 'TOKEN',
}
