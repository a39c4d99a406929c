/**
 * The schema of a response for the compiler of serializers, which knows a value or null as `nullable`, and words as strings. Of a
 * choice (`anyOf`) it makes a validator per branch: compiling those took 0.15 s of the first list of members, and each value of
 * each row passed through them. A choice between objects stays as it is. TypeScript checks what is in a response.
 */
export function serializedSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(serializedSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  if ('anyOf' in schema && Array.isArray(schema.anyOf)) return ofChoice(schema as Choice)
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, serializedSchema(value)]))
}

interface Choice {
  readonly anyOf: readonly Readonly<Record<string, unknown>>[]
}

function ofChoice(choice: Choice): unknown {
  const others = choice.anyOf.filter(({ type }) => type !== 'null')
  const only = others.every(isWord) ? { type: 'string' } : others.length === 1 ? serializedSchema(others[0]) : undefined
  // Without a type the compiler does not know what `nullable` is about.
  if (typeof only !== 'object' || only === null || !('type' in only)) return choice
  return others.length === choice.anyOf.length ? only : { ...only, nullable: true }
}

const isWord = (schema: Readonly<Record<string, unknown>>) =>
  schema.type === 'string' && typeof schema.const === 'string'
