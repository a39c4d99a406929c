import Type from 'typebox'

/** Building blocks of the schemas: the few shapes that every resource shares. */

/** ISO 8601 in UTC, ending in `Z`. Source: specification, Resources ("ISO 8601 on the wire"). */
export const Instant = Type.String({ format: 'date-time' })

/** An instant with what it means. */
export const instant = (description: string) => Type.String({ format: 'date-time', description })

/** A value, or `null` where the specification says "or null"; the key is always there. */
export const OrNull = <T extends Type.TSchema>(schema: T, options?: Described) =>
  Type.Union([schema, Type.Null()], options)

/** One of some words. A union of a list's literals would be known as `never`: the compiler knows of no tuple then. */
export const OneOf = <const Words extends readonly string[]>(words: Words, options?: Described) =>
  Type.Unsafe<Words[number]>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  )

/** An object with any keys and values of one schema. */
export const MapOf = <T extends Type.TSchema>(schema: T, options?: Described) =>
  Type.Unsafe<Record<string, Type.Static<T>>>(Type.Object({}, { ...options, additionalProperties: schema }))

/**
 * Text of one line that is shown to other people: without control characters, line separators, and characters that set
 * the direction of text, by which a name is shown as another one or changes the words around it.
 */
export const onePlainLine = '[^\\p{Cc}\\p{Zl}\\p{Zp}\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]*'

/** What a schema means: shown in docs/reference and in the OpenAPI document. No full stop at its end. */
export type Described = { readonly description: string }

/** The plain answer of an endpoint that only confirms. */
export const Message = Type.Object({ message: Type.String() })
export type Message = Type.Static<typeof Message>
