/**
 * Why a sign-in by an OpenID Connect provider led to `/login?problem=…`. The page has a sentence for each; nothing of what
 * a provider or a link said is ever shown.
 */
export const signInProblems = [
  /** The provider does not answer, or answers that it cannot just now. */
  'provider-unavailable',
  /** The provider refuses the request, because of how one of the two sides is set up. */
  'provider-misconfigured',
  /** The answer is not what a provider that follows the standard sends to this request. */
  'untrusted-answer',
  /** The person did not agree, or ended the sign-in, at the provider. */
  'cancelled',
  /** No such sign-in was begun in this browser, or too long ago. */
  'attempt-lost',
  'email-missing',
  'email-unverified',
  /** The address belongs to an account that another subject of the same provider signs in to. */
  'email-taken',
  /** A new account, which the rules of sign-up refuse. */
  'not-invited',
  'not-in-group',
  /** The provider did not say in which groups the person is. */
  'groups-unknown',
  'blocked',
  /** Berth could not finish; to be tried again. */
  'failed',
] as const
export type SignInProblemCode = (typeof signInProblems)[number]
