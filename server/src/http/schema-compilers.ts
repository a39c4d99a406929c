import ajvCompilers from '@fastify/ajv-compiler'
import serializerCompilers from '@fastify/fast-json-stringify-compiler'
import type { FastifyServerOptions } from 'fastify'

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>
/** A validator or a serializer; a validator leaves its findings in `errors`. */
type Compiled = ((...values: unknown[]) => unknown) & { errors?: unknown; compile?: () => void }
type Compile = (route: { readonly schema: object }) => Compiled

/**
 * Fastify's own compilers of schemas, which compile one when the first value comes for it: those of the whole endpoint
 * table took 350 ms of CPU, more than half of a start, and few of them are needed at once. What was made is kept for
 * the next server of this process. The schemas refer to no others, so that a schema alone says what is made of it.
 */
const [validators, serializers] = [new WeakMap<object, Compiled>(), new WeakMap<object, Compiled>()]
const buildSerializer = compileOnUse(simplerSerializers, serializers)
export const schemaCompilers = {
  buildValidator: compileOnUse(ajvCompilers() as unknown as () => Compile, validators),
  buildSerializer,
} as unknown as Compilers

/** Fastify's own compiler of serializers, for simpler schemas, see `serializedSchema`. */
function simplerSerializers(...settings: unknown[]): Compile {
  const compile = (serializerCompilers() as unknown as (...settings: unknown[]) => Compile)(...settings)
  return (route) => compile({ ...route, schema: serializedSchema(route.schema) as object })
}

/**
 * Compiles the serializer of a schema for later servers, with what its first values would compile: one that a server
 * has built leaves that.
 */
export function compileSerializer(schema: object): void {
  serializers.delete(schema)
  buildSerializer({}, { compileValidators: true })({ schema }).compile?.()
}

/** Compiles a validator that a server has built; others have settings that are unknown here. */
export function compileValidator(schema: object): void {
  validators.get(schema)?.compile?.()
}

/**
 * @param build called by each server with its settings, which are the same for all
 * @param known what was made of each schema
 */
function compileOnUse(
  build: (...settings: unknown[]) => Compile,
  known: WeakMap<object, Compiled>,
): (...settings: unknown[]) => Compile {
  return (...settings) => {
    let compile: Compile | undefined
    return (route) => {
      const made = known.get(route.schema) ?? onUse(() => (compile ??= build(...settings))(route))
      known.set(route.schema, made)
      return made
    }
  }
}

/** Fastify reads `errors` right after the call. @throws from a call, when the schema cannot be compiled */
function onUse(compile: () => Compiled): Compiled {
  let made: Compiled | undefined
  const call: Compiled = (...values) => {
    const result = (made ??= compile())(...values)
    call.errors = made.errors
    return result
  }
  call.compile = () => void (made ??= compile())
  return call
}

/**
 * The schema of a response for the compiler of serializers, which knows a value or null as `nullable`, and words as
 * strings. Of a choice (`anyOf`) it makes a validator per branch: compiling those took 0.15 s of the first list of
 * members, and each value of each row passed through them. A choice between objects stays as it is. TypeScript checks
 * what is in a response.
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
