import Type from 'typebox'
import { OrNull } from './shapes.ts'

/** Body of every endpoint that mails a link. What counts as an address is decided by the server, in words. */
export const EmailBody = Type.Object({ email: Type.String({ description: 'E-mail address' }) })

/** Query of the verify endpoints. 512 characters are far more than any token of ours has. */
export const TokenQuery = Type.Object({ token: Type.String({ minLength: 1, maxLength: 512 }) })

/** Query of `continue`. */
export const NextQuery = Type.Object({
  next: Type.Optional(
    Type.String({ description: 'Path on this host to go on to; `/` when it is missing or leads elsewhere' }),
  ),
})

/** What the gateway asks for at the host of a container. */
export const EnterQuery = Type.Object({
  container: Type.String({
    description: '`{slug}-{type}`, for a port `{slug}-{type}:{port}`, whether there is such a container or not',
  }),
  browser: Type.String({ description: 'SHA-256, in base64url, of what the browser holds at that host' }),
  next: Type.Optional(Type.String({ description: 'Path and query to go on to at that host; `/` when it is none' })),
})

/** What a verify endpoint answers. Source: specification, Auth response. */
export const AuthResponse = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'seconds' }),
  user: Type.Object({
    id: Type.Integer(),
    email: Type.String(),
    slug: Type.String(),
    is_admin: Type.Boolean(),
    state: Type.String(),
    container_id: OrNull(Type.String()),
  }),
})
export type AuthResponse = Type.Static<typeof AuthResponse>

/** What a sign-out answers. */
export const SignedOut = Type.Object({
  message: Type.String(),
  logout_url: OrNull(Type.String(), {
    description: 'Where the browser signs out at the provider that the session began at; null where there is none',
  }),
})
