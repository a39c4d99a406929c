import type { Endpoint } from '../endpoint.ts'
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
  logIn: {
    method: 'POST',
    path: '/api/auth/login',
    access: 'public',
    summary: 'Mail a login link to a registered address',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  },
  signUp: {
    method: 'POST',
    path: '/api/auth/signup',
    access: 'public',
    summary: 'Register an address and mail its first link',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  },
  askForLink: {
    method: 'POST',
    path: '/api/auth/link',
    access: 'public',
    summary: 'Mail a login or signup link to an address; a new address is registered first',
    body: auth.EmailBody,
    response: Message,
    refusals: mails,
    headers: linksLeft,
  },
  resendVerification: {
    method: 'POST',
    path: '/api/auth/resend-verification',
    access: 'public',
    summary: 'Mail another signup link to an address that was never verified',
    body: auth.EmailBody,
    response: Message,
    refusals: { 400: ErrorBody, 429: ErrorBody },
    headers: linksLeft,
  },
  verifySignup: {
    method: 'GET',
    path: '/api/auth/verify-signup',
    access: 'public',
    summary: 'Exchange a signup link for an access token',
    query: auth.TokenQuery,
    response: auth.AuthResponse,
    refusals: verifies,
    head: false,
  },
  verifyLogin: {
    method: 'GET',
    path: '/api/auth/verify-login',
    access: 'public',
    summary: 'Exchange a login link for an access token',
    query: auth.TokenQuery,
    response: auth.AuthResponse,
    refusals: verifies,
    head: false,
  },
  logOut: {
    method: 'POST',
    path: '/api/auth/logout',
    access: 'user',
    blocked: 'may read',
    endsTakeover: true,
    summary: 'Revoke the access token of this request and end its session',
    response: auth.SignedOut,
    refusals: {},
  },
  refreshSession: {
    method: 'POST',
    path: '/api/auth/refresh',
    access: 'public',
    summary: 'Exchange the cookie `berth_session` for a new access token',
    response: auth.AuthResponse,
    refusals: { 401: ErrorBody, 403: ErrorBody, 429: ErrorBody },
  },
  continueSession: {
    method: 'GET',
    path: '/api/auth/continue',
    access: 'public',
    summary: 'Lead a browser on with a new access token, or to the login page',
    query: auth.NextQuery,
    redirects: 'To `next` while the session of the cookie `berth_session` lasts, otherwise to the login page',
    refusals: { 403: ErrorBody, 429: ErrorBody },
    head: false,
  },
  enterContainer: {
    method: 'GET',
    path: '/api/auth/enter',
    access: 'public',
    summary: 'Lead a signed-in browser into the host of a container (subdomain routing)',
    query: auth.EnterQuery,
    redirects:
      'To the host of the container with a code for this browser; without a live session as `/api/auth/continue`, and back',
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 429: ErrorBody },
    head: false,
  },
  endTakeover: {
    method: 'POST',
    path: '/api/auth/end-takeover',
    access: 'user',
    blocked: 'may read',
    endsTakeover: true,
    summary: 'End a takeover; in a browser the session of the administrator returns',
    response: Message,
    refusals: { 409: ErrorBody },
  },
} as const satisfies Record<string, Endpoint>
