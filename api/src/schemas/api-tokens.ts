import Type from 'typebox'
import { scopes } from '../scopes.ts'
import { Instant, OneOf, OrNull, onePlainLine } from './shapes.ts'

/** Max lifetime of an API token, in seconds. */
export const maxExpiresIn = 31_536_000

export const ApiTokenScope = OneOf(scopes, {
  description:
    '`containers:write` contains `containers:read`, `admin:write` contains `admin:read`; `admin:` for administrators',
})

/** Any text: ids that are not 1 to 15 digits are answered with 404 by the handlers. */
export const ApiTokenParams = Type.Object({ id: Type.String() })

const wanted = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: `^(?=.*\\S)${onePlainLine}$`,
    description: 'What the token is for',
  }),
  scopes: Type.Array(ApiTokenScope, { minItems: 1, maxItems: 16 }),
  expires_in: Type.Integer({ minimum: 1, maximum: maxExpiresIn, description: 'Seconds, at most one year' }),
}
export const ApiTokenBody = Type.Object(wanted)
/** For an account, by the operator. */
export const OperatorApiTokenBody = Type.Object({ email: Type.String(), ...wanted })

const entry = {
  id: Type.Integer(),
  name: Type.String(),
  scopes: Type.Array(ApiTokenScope),
  created_at: Instant,
  expires_at: Instant,
  last_used: OrNull(Instant, { description: 'To the minute; null if it was never used' }),
}
/** An API token as its owner sees it; never the token itself. */
export const ApiToken = Type.Object(entry)
export type ApiToken = Type.Static<typeof ApiToken>
export const ApiTokensResponse = Type.Object({
  tokens: Type.Array(ApiToken, { description: 'Newest first; one that has expired stays for 30 days' }),
})

export const CreatedApiToken = Type.Object({
  token: Type.String({ description: 'Shown here and never again' }),
  ...entry,
})
export type CreatedApiToken = Type.Static<typeof CreatedApiToken>

export const AdminApiTokensQuery = Type.Object({
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'Id or e-mail address of the owner; default: all owners',
    }),
  ),
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })),
})
/** An API token as administrators see it. */
export const AdminApiToken = Type.Object({
  ...entry,
  user: Type.Object({ id: Type.Integer(), email: Type.String() }, { description: 'Its owner' }),
})
export type AdminApiToken = Type.Static<typeof AdminApiToken>
export const AdminApiTokensResponse = Type.Object({
  tokens: Type.Array(AdminApiToken),
  next_cursor: OrNull(Type.String()),
})
export type AdminApiTokensResponse = Type.Static<typeof AdminApiTokensResponse>
