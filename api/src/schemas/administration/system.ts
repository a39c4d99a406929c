import Type from 'typebox'

/** The process lives. */
export const HealthResponse = Type.Object({ status: Type.Literal('ok') })
export type HealthResponse = Type.Static<typeof HealthResponse>

/** Store and engine answer, and the gateway has the routes; each part says `ok` or what is wrong with it. */
export const ReadyResponse = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('not ready')]),
  parts: Type.Object({ store: Type.String(), engine: Type.String(), gateway: Type.String() }),
})
export type ReadyResponse = Type.Static<typeof ReadyResponse>

/** The public half of the signing keys, RFC 7517 section 5. */
export const JwksResponse = Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) })
export type JwksResponse = Type.Static<typeof JwksResponse>

/** The OpenAPI 3.1 document is served as it is built. */
export const OpenApiResponse = Type.Record(Type.String(), Type.Unknown())
