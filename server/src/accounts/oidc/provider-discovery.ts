import type * as OpenIdClient from 'openid-client'
import type { ClientAuth, Configuration } from 'openid-client'
import { problemOf } from './problem-of.ts'
import { providerFetch } from './provider-fetch.ts'
import type { Provider } from './provider.ts'
import { SignInProblem } from './sign-in-problem.ts'

/** Timeout of each request to a provider, in seconds. */
const requestTimeout = 5
/** How far the clocks of the two may be apart (clock skew), in seconds. */
export const clockTolerance = 60
/** After this the document is fetched again, in ms; sign-ins meanwhile use the one that is there. */
const refreshAfter = 3_600_000
/** What could not be refreshed for so long is not used any more, in ms. */
const maxAge = 86_400_000
/** Pause after a failed fetch, in ms; it doubles with each further failure. */
const [minBackoff, maxBackoff] = [1_000, 60_000]

/** What the library needs to speak to a provider, with the provider's signature checks switched on. */
interface Discovered {
  readonly configuration: Configuration
  readonly at: number
}

/**
 * The discovery document of one provider, fetched when it is first needed, cached, and refreshed behind the sign-ins that
 * use it. A provider that does not answer is asked again with exponential backoff; until then its sign-ins fail at once.
 */
export class ProviderDiscovery {
  readonly #provider: Provider
  readonly #now: () => number
  #discovered: Discovered | undefined
  #underWay: Promise<Configuration> | undefined
  #failures = 0
  #nextTry = 0

  /** @param now ms, monotonic; for tests */
  constructor(provider: Provider, now = () => performance.now()) {
    this.#provider = provider
    this.#now = now
  }

  /** @throws {SignInProblem} provider-unavailable · untrusted-answer, when the document is not this issuer's */
  async configuration(): Promise<Configuration> {
    const known = this.#discovered
    const age = known ? this.#now() - known.at : Infinity
    if (known && age < refreshAfter) return known.configuration
    if (known && age < maxAge) {
      void this.#fetchOnce().catch(() => undefined)
      return known.configuration
    }
    return this.#fetchOnce()
  }

  /** Single-flight, and not before the pause after a failure is over. */
  async #fetchOnce(): Promise<Configuration> {
    if (this.#underWay) return this.#underWay
    if (this.#now() < this.#nextTry)
      throw new SignInProblem('provider-unavailable', 'its discovery failed a moment ago, and is not tried again yet')
    this.#underWay = this.#fetch().finally(() => (this.#underWay = undefined))
    return this.#underWay
  }

  async #fetch(): Promise<Configuration> {
    try {
      const configuration = await discover(this.#provider)
      this.#discovered = { configuration, at: this.#now() }
      this.#failures = 0
      return configuration
    } catch (error) {
      this.#nextTry = this.#now() + Math.min(maxBackoff, minBackoff * 2 ** this.#failures)
      this.#failures = Math.min(this.#failures + 1, 10)
      throw problemOf(error)
    }
  }
}

/**
 * Fetches the discovery document, without a cache. @throws what the library throws: no answer within 5 s, or a document
 * of another issuer
 */
export async function discover(provider: Provider): Promise<Configuration> {
  // Loaded here: an installation without providers does without it.
  const client = await import('openid-client')
  const issuer = new URL(provider.issuer)
  const metadata = { [client.clockTolerance]: clockTolerance }
  const isPlain = issuer.protocol === 'http:'
  // Signatures of ID tokens are checked although TLS protects them: OpenID Connect Core, 3.1.3.7, step 6.
  const execute = [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])]
  const options = { timeout: requestTimeout, [client.customFetch]: providerFetch, execute }
  const [authenticate, state] = clientAuthentication(client, provider.clientSecret)
  const configuration = await client.discovery(issuer, provider.clientId, metadata, authenticate, options)
  authentications.set(configuration, state)
  return configuration
}

/** How the client proves itself at the token endpoint of a configuration. */
const authentications = new WeakMap<Configuration, { isOther: boolean }>()

/**
 * For a provider that accepts one of two ways that it names: which one is registered for the client it does not say.
 * @returns sends the secret from now on not in the way that is used now; false when there is no other way
 */
export function otherClientAuthentication(configuration: Configuration): () => boolean {
  const state = authentications.get(configuration)
  const methods = configuration.serverMetadata().token_endpoint_auth_methods_supported ?? []
  const hasBoth = methods.includes('client_secret_basic') && methods.includes('client_secret_post')
  if (!state || !hasBoth) return () => false
  // Not the opposite of what it is then: of two sign-ins that are refused at the same time, both switch the same way.
  const isOther = !state.isOther
  return () => {
    state.isOther = isOther
    return true
  }
}

function clientAuthentication(
  client: Pick<typeof OpenIdClient, 'None' | 'ClientSecretBasic' | 'ClientSecretPost'>,
  secret: string | null,
): [ClientAuth, { isOther: boolean }] {
  const state = { isOther: false }
  if (secret === null) return [client.None(), state]
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  const authenticate: ClientAuth = (server, ...rest) => {
    // The default of OpenID Connect Discovery, 3, and what every provider must support (RFC 6749, 2.3.1).
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isPost = state.isOther || (methods.includes('client_secret_post') && !methods.includes('client_secret_basic'))
    return (isPost ? post : basic)(server, ...rest)
  }
  return [authenticate, state]
}
