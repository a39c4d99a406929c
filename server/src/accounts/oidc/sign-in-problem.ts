import type { SignInProblemCode } from '@berth/api/sign-in-problems.ts'

/** A refused sign-in by a provider, with a reason that the login page explains. Expected; not a bug. */
export class SignInProblem extends Error {
  readonly code: SignInProblemCode

  /** @param why for the log: no token, code or claim value may stand in it */
  constructor(code: SignInProblemCode, why: string, cause?: unknown) {
    super(why, { cause })
    this.name = 'SignInProblem'
    this.code = code
  }
}

/** Errors of the authorization endpoint. Sources: RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6. */
const authorizationErrors: Readonly<Record<string, SignInProblemCode>> = {
  access_denied: 'cancelled',
  interaction_required: 'cancelled',
  login_required: 'cancelled',
  account_selection_required: 'cancelled',
  consent_required: 'cancelled',
  server_error: 'provider-unavailable',
  temporarily_unavailable: 'provider-unavailable',
}

/** Max length of a provider's text in the log, in characters. */
const maxQuoted = 200

/** What the library tells of a failure; its classes are not loaded for this. */
interface Failure {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  /** Code in an error answer of the provider. */
  readonly error?: string
  readonly error_description?: string
  readonly status?: number
  readonly cause?: unknown
}

/**
 * What a failure of the library means to the person who signs in. The words for the log hold the error and the names of
 * the claims that are wrong, never what the provider sent: tokens are in there.
 */
export function problemOf(failure: unknown): SignInProblem {
  if (failure instanceof SignInProblem) return failure
  return new SignInProblem(codeOf(failure as Failure), wordsFor(failure as Failure))
}

function codeOf(failure: Failure): SignInProblemCode {
  const { name, code, error, cause } = failure
  if (name === 'AuthorizationResponseError') return authorizationErrors[error ?? ''] ?? 'provider-misconfigured'
  // The code was used, has expired, or was issued to another attempt. Source: RFC 6749, 5.2.
  if (error === 'invalid_grant') return 'attempt-lost'
  if (statusOf(failure) >= 500 || statusOf(failure) === 429) return 'provider-unavailable'
  // The client's secret or id is wrong, or the method by which it is sent.
  if (error !== undefined || name === 'WWWAuthenticateChallengeError') return 'provider-misconfigured'
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT') return 'provider-unavailable'
  // What `fetch` throws when no answer comes.
  return isNetworkError(failure) || isNetworkError(cause) ? 'provider-unavailable' : 'untrusted-answer'
}

const statusOf = ({ status, cause }: Failure): number => status ?? (cause instanceof Response ? cause.status : 0)

const isNetworkError = (error: unknown) =>
  error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message)

function wordsFor(failure: Failure): string {
  const { message = 'unknown error', error, error_description: description } = failure
  const said = error === undefined ? '' : `: ${quoted(error)}${description ? ` (${quoted(description)})` : ''}`
  const why = failure.cause instanceof Error ? ` (${causeWords(failure.cause)})` : ''
  const claim = claimIn(failure.cause)
  return `${message}${said}${why}${claim === undefined ? '' : ` "${claim}"`}`
}

/** Network errors name address and reason in the innermost cause. */
function causeWords({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}

/** The claim or attribute that a check found wrong. */
function claimIn(cause: unknown): string | undefined {
  const { claim, attribute, cause: inner } = Object(cause) as { claim?: unknown; attribute?: unknown; cause?: unknown }
  const name = claim ?? attribute
  if (typeof name === 'string') return quoted(name)
  return inner === undefined ? undefined : claimIn(inner)
}

const quoted = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, maxQuoted)
