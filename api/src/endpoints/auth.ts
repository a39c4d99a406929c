import { endpoint, type Endpoint } from '../endpoint.ts'
import * as auth from '../schemas/auth.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

const mails = { 400: ErrorBody, 403: ErrorBody, 429: ErrorBody, 500: ErrorBody, 503: ErrorBody } as const
/** Also headers of the refusal 429. */
const linksLeft = {
  'Links-Left': 'Links that may still be requested for this address now, with or without an account',
  'Links-Reset': 'Seconds until one more link may be requested',
} as const
const verifies = { 400: ErrorBody, 403: ErrorBody, 429: ErrorBody } as const

/** Sign-in by mailed link, and sign-out. */
export const authEndpoints = {
  logIn: endpoint('POST /api/auth/login', 'public', {
    summary: 'Mail a login link to a registered address',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  }),
  signUp: endpoint('POST /api/auth/signup', 'public', {
    summary: 'Register an address and mail its first link',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  }),
  askForLink: endpoint('POST /api/auth/link', 'public', {
    summary: 'Mail a login or signup link to an address; a new address is registered first',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  }),
  resendVerification: endpoint('POST /api/auth/resend-verification', 'public', {
    summary: 'Mail another signup link to an address that was never verified',
    body: auth.EmailBody,
    response: Message,
    refusals: { 400: ErrorBody, 429: ErrorBody },
    headers: linksLeft,
  }),
  verifySignup: endpoint('GET /api/auth/verify-signup', 'public', {
    summary: 'Exchange a signup link for an access token',
    query: auth.TokenQuery,
    response: auth.AuthResponse,
    refusals: verifies,
    head: false,
  }),
  verifyLogin: endpoint('GET /api/auth/verify-login', 'public', {
    summary: 'Exchange a login link for an access token',
    query: auth.TokenQuery,
    response: auth.AuthResponse,
    refusals: verifies,
    head: false,
  }),
  logOut: endpoint('POST /api/auth/logout', 'user', {
    blocked: 'may read',
    endsTakeover: true,
    summary: 'Revoke the access token of this request and end its session',
    response: auth.SignedOut,
    refusals: {},
  }),
  refreshSession: endpoint('POST /api/auth/refresh', 'public', {
    summary: 'Exchange the cookie `berth_session` for a new access token',
    response: auth.AuthResponse,
    refusals: { 401: ErrorBody, 403: ErrorBody, 429: ErrorBody },
  }),
  continueSession: endpoint('GET /api/auth/continue', 'public', {
    summary: 'Lead a browser on with a new access token, or to the login page',
    query: auth.NextQuery,
    redirects: 'To `next` while the session of the cookie `berth_session` lasts, otherwise to the login page',
    refusals: { 403: ErrorBody, 429: ErrorBody },
    head: false,
  }),
  enterContainer: endpoint('GET /api/auth/enter', 'public', {
    summary: 'Lead a signed-in browser into the host of a container (subdomain routing)',
    query: auth.EnterQuery,
    redirects:
      'To the host of the container with a code for this browser; without a live session as `/api/auth/continue`, and back',
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 429: ErrorBody },
    head: false,
  }),
  endTakeover: endpoint('POST /api/auth/end-takeover', 'user', {
    blocked: 'may read',
    endsTakeover: true,
    summary: 'End a takeover; in a browser the session of the administrator returns',
    response: Message,
    refusals: { 409: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
