import ajvCompilers from '@fastify/ajv-compiler'
import serializerCompilers from '@fastify/fast-json-stringify-compiler'
import type { FastifyServerOptions } from 'fastify'

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>
type Compile = (route: { readonly schema: object }) => unknown

/**
 * Fastify's own compilers of schemas, with what they made kept for the next server of this process: they take 60 ms for the
 * endpoint table, a fifth of what the start of a server in a test costs. The schemas refer to no others, so that a schema alone
 * says what is made of it.
 */
export const schemaCompilers = {
  buildValidator: keepCompiled(ajvCompilers() as unknown as () => Compile),
  buildSerializer: keepCompiled(serializerCompilers() as unknown as () => Compile),
} as unknown as Compilers

/** @param build called by each server with its settings, which are the same for all */
function keepCompiled(build: (...settings: unknown[]) => Compile): (...settings: unknown[]) => Compile {
  const compiled = new WeakMap<object, unknown>()
  return (...settings) => {
    const compile = build(...settings)
    return (route) => {
      const made = compiled.get(route.schema) ?? compile(route)
      compiled.set(route.schema, made)
      return made
    }
  }
}
