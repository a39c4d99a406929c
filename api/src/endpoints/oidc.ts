import { endpoint, type Endpoint } from '../endpoint.ts'
import { ErrorBody } from '../schemas/error.ts'
import * as oidc from '../schemas/oidc.ts'
import { Message } from '../schemas/shapes.ts'

const refused = { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 429: ErrorBody } as const

/** Sign-in by OpenID Connect providers. */
export const oidcEndpoints = {
  listProviders: endpoint('GET /api/auth/providers', 'public', {
    summary: 'List the ways to sign in',
    response: oidc.Providers,
    refusals: { 429: ErrorBody },
  }),
  startSignIn: endpoint('GET /api/auth/oidc/{provider}/start', 'public', {
    summary: 'Begin a sign-in at a provider',
    params: oidc.ProviderPath,
    query: oidc.NextQuery,
    redirects: 'To the provider, or to `/login?problem=…`',
    refusals: refused,
    head: false,
  }),
  finishSignIn: endpoint('GET /api/auth/oidc/{provider}/callback', 'public', {
    summary: 'Finish a sign-in with the answer of a provider',
    params: oidc.ProviderPath,
    query: oidc.CallbackQuery,
    redirects: 'To `next` of the start, signed in, or to `/login?problem=…`',
    refusals: refused,
    head: false,
  }),
  endSessionsByProvider: endpoint('POST /api/auth/oidc/{provider}/backchannel-logout', 'public', {
    summary: 'End the sessions that a provider names in a logout token',
    params: oidc.ProviderPath,
    body: oidc.LogoutForm,
    form: true,
    response: Message,
    refusals: { 400: ErrorBody, 404: ErrorBody, 429: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
