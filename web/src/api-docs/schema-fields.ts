/** A JSON schema, as far as the endpoint table uses them. */
export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly const?: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  /** Of the values of a map. */
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

/** A value that fits a schema, for examples; optional fields are left out. @param name of the field, for a telling text */
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
