import { hash } from 'node:crypto'
import type { Configuration } from 'openid-client'
import type { Provider } from './provider.ts'
import { SignInProblem } from './sign-in-problem.ts'

/** How long a person may take at the provider, in seconds. */
export const attemptLifetime = 600

/** One sign-in that was begun in a browser, until the provider answers. */
export interface SignInAttempt {
  readonly provider: string
  /** Comes back with the answer; unguessable, so that no other party can forge one (CSRF). Source: RFC 9700, 4.7. */
  readonly state: string
  /** Comes back inside the ID token, so that none of another attempt is accepted. */
  readonly nonce: string
  /** Proves at the token endpoint who began the attempt. Source: RFC 7636. */
  readonly codeVerifier: string
  /** Path to go on to. */
  readonly next: string
}

/** Begins an attempt. @param redirectUri where the provider sends the browser back to @returns the address at the provider */
export async function authorizationRequest(
  configuration: Configuration,
  { id, scopes }: Provider,
  redirectUri: string,
  next: string,
): Promise<{ readonly location: string; readonly attempt: SignInAttempt }> {
  const client = await import('openid-client')
  const codeVerifier = client.randomPKCECodeVerifier()
  const attempt = { provider: id, state: client.randomState(), nonce: client.randomNonce(), codeVerifier, next }
  const parameters = {
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: attempt.state,
    nonce: attempt.nonce,
    // Source: RFC 7636, 4.2. Not the library's, which takes 20 to 30 us more of a request that needs no account.
    code_challenge: hash('sha256', codeVerifier, 'base64url'),
    code_challenge_method: 'S256',
  }
  try {
    return { location: client.buildAuthorizationUrl(configuration, parameters).href, attempt }
  } catch (error) {
    throw new SignInProblem('untrusted-answer', `its discovery document is incomplete: ${(error as Error).message}`)
  }
}
