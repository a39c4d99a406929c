import type * as OpenIdClient from 'openid-client'
import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client'
import { askServer } from '#/machine/outgoing-request.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Provider } from './provider-settings.ts'
import { SignInProblem, problemOf } from './sign-in-problem.ts'

export interface RegisteredProvider {
  readonly provider: Provider
  readonly discovery: ProviderDiscovery
}

/** The providers of the settings, each with its discovery; nothing is asked of them before they are needed. */
export class ProviderRegistry {
  /** In the order of the login page. */
  readonly providers: readonly Provider[]
  readonly #registered: ReadonlyMap<string, RegisteredProvider>

  constructor(providers: readonly Provider[]) {
    this.providers = providers
    this.#registered = new Map(
      providers.map((provider) => [provider.id, { provider, discovery: new ProviderDiscovery(provider) }]),
    )
  }

  /** Undefined for an id that is not in the settings, or not any more. */
  find(id: string): RegisteredProvider | undefined {
    return this.#registered.get(id)
  }

  /** @throws {Refusal} 404 no such provider */
  require(id: string): RegisteredProvider {
    const registered = this.find(id)
    if (!registered) throw refusals.notFound('provider')
    return registered
  }
}

/** Timeout of each request to a provider, in seconds. */
const requestTimeout = 5
/** How far the clocks of the two may be apart (clock skew), in seconds. */
export const clockTolerance = 60
/** After this the document is fetched again, in ms; sign-ins meanwhile use the one that is there. */
const refreshAfter = 3_600_000
/** What could not be refreshed for so long is not used any more, in ms. */
const maxAge = 86_400_000
/** Min time between two renewals that sign-ins ask for, in ms: each costs two requests to the provider. */
export const renewEvery = 5_000
/** Pause after a failed fetch, in ms; it doubles with each further failure. */
const [minBackoff, maxBackoff] = [1_000, 60_000]

/** What the library needs to speak to a provider, with the provider's signature checks switched on. */
interface Discovered {
  readonly configuration: Configuration
  readonly at: number
}

/**
 * The discovery document of one provider, fetched when it is first needed, cached, and refreshed behind the sign-ins
 * that use it. A provider that does not answer is asked again with exponential backoff; until then its sign-ins fail at
 * once.
 */
export class ProviderDiscovery {
  readonly #provider: Provider
  readonly #now: () => number
  #discovered: Discovered | undefined
  #underWay: Promise<Configuration> | undefined
  #failures = 0
  #nextTry = 0
  #nextRenewal = 0

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

  /**
   * Fetches the document and, at the next sign-in, the keys again, now and then at most: a provider may change its keys
   * at any time, even under the same names. What is there is used until then.
   */
  renew(): void {
    if (this.#now() < this.#nextRenewal) return
    this.#nextRenewal = this.#now() + renewEvery
    void this.#fetchOnce().catch(() => undefined)
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
async function discover(provider: Provider): Promise<Configuration> {
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
const authentications = new WeakMap<Configuration, Authentication>()

interface Authentication {
  /** Index of the way that is used now; of those beyond the end the remainder counts. */
  way: number
  readonly waysAt: (server: ServerMetadata) => readonly ClientAuth[]
}

/**
 * For a provider that accepts one of several ways to send the secret: which one is registered for the client it does
 * not say, nor whether it decodes credentials.
 * @returns sends the secret from now on in the next way; false when all have been used since this call
 */
export function otherClientAuthentication(configuration: Configuration): () => boolean {
  const state = authentications.get(configuration)
  if (!state) return () => false
  const count = state.waysAt(configuration.serverMetadata()).length
  // Not the next of what it is then: of two sign-ins that are refused at the same time, both switch the same way.
  const first = state.way
  let tried = 1
  return () => {
    if (tried >= count) return false
    state.way = (first + tried) % count
    tried += 1
    return true
  }
}

function clientAuthentication(
  client: Pick<typeof OpenIdClient, 'None' | 'ClientSecretBasic' | 'ClientSecretPost'>,
  secret: string | null,
): [ClientAuth, Authentication] {
  if (secret === null) return [client.None(), { way: 0, waysAt: () => [] }]
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  const waysAt = (server: ServerMetadata) => {
    // The default of OpenID Connect Discovery, 3, and what every provider must support (RFC 6749, 2.3.1).
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const hasPost = methods.includes('client_secret_post')
    if (hasPost && !methods.includes('client_secret_basic')) return [post]
    return [basic, ...(hasPost ? [post] : []), ...(/[^a-z0-9]/i.test(secret) ? [plainBasic(secret)] : [])]
  }
  const state: Authentication = { way: 0, waysAt }
  const authenticate: ClientAuth = (server, ...rest) => {
    const ways = waysAt(server)
    return (ways[state.way % ways.length] ?? basic)(server, ...rest)
  }
  return [authenticate, state]
}

/** For providers that do not decode id and secret, as RFC 6749, 2.3.1 has it; the library encodes `-` and `_`, too. */
const plainBasic =
  (secret: string): ClientAuth =>
  (_server, { client_id }, _body, headers) =>
    headers.set('authorization', `Basic ${Buffer.from(`${client_id}:${secret}`).toString('base64')}`)

/** How far the clocks of the two may be apart, in seconds: a third of what is tolerated, as they drift on. */
const maxClockDifference = 20
/** Timeout of the request for the keys, in ms. */
const keyTimeout = 5_000

/** What a check found, in words that end the sentence "provider NAME: ...". */
export interface ProviderCheck {
  readonly ok: boolean
  readonly words: string
}

/**
 * Whether sign-ins at a provider could work: its discovery document, its keys and its clock. The client's secret is not
 * checked: that takes a person who signs in.
 * @param redirectUri the address that the operator enters there @returns never rejects
 */
export async function checkProvider(provider: Provider, redirectUri: string): Promise<ProviderCheck> {
  const enter = `redirect address to enter there: ${redirectUri}`
  try {
    const metadata = (await discover(provider)).serverMetadata()
    const missing = (['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const).filter(
      (name) => !metadata[name],
    )
    if (missing.length > 0) return wrong(`its discovery document lacks ${missing.join(', ')}`)
    const { count, clock } = await keysAt(metadata.jwks_uri ?? '')
    if (count === 0) return wrong('it publishes no keys that sign')
    if (clock !== undefined && Math.abs(clock) > maxClockDifference)
      return wrong(
        `its clock is ${Math.abs(clock)} s ${clock > 0 ? 'ahead of' : 'behind'} this machine's: set both by NTP`,
      )
    const signOut = metadata.end_session_endpoint === undefined ? 'no sign-out there' : 'sign-out there'
    const time = clock === undefined ? 'clock not known' : `clock ${Math.abs(clock)} s apart`
    return { ok: true, words: `answers, ${count} ${count === 1 ? 'key' : 'keys'}, ${time}, ${signOut}; ${enter}` }
  } catch (error) {
    const named = issuerNamedIn(error)
    return wrong(named === undefined ? problemOf(error).message : `it names another issuer; enter issuer: ${named}`)
  }
}

const wrong = (words: string): ProviderCheck => ({ ok: false, words })

/** @returns keys for signatures, and how many seconds its clock is ahead; undefined when it does not say */
async function keysAt(address: string): Promise<{ count: number; clock: number | undefined }> {
  const answer = await providerFetch(address, { signal: AbortSignal.timeout(keyTimeout) })
  const { keys = [] } = Object(await answer.json()) as { keys?: readonly { readonly use?: string }[] }
  const date = Date.parse(answer.headers.get('date') ?? '')
  const clock = Number.isNaN(date) ? undefined : Math.round((date - Date.now()) / 1_000)
  return { count: keys.filter(({ use }) => use === undefined || use === 'sig').length, clock }
}

/** The issuer of the discovery document, when that is all that is wrong. */
function issuerNamedIn(error: unknown): string | undefined {
  const { cause } = Object(error) as { cause?: unknown }
  const { attribute, body } = Object(cause) as { attribute?: unknown; body?: unknown }
  const { issuer } = Object(body) as { issuer?: unknown }
  return attribute === 'issuer' && typeof issuer === 'string' ? issuer.slice(0, 200) : undefined
}

/** Max bytes of a provider's answer; a discovery document or key set has some ten thousand. */
const maxAnswer = 1_048_576

/** What the libraries ask for with each request. */
interface RequestOptions {
  readonly method: string
  readonly headers: Headers | Record<string, string>
  readonly body?: unknown
  readonly signal?: AbortSignal | null
}

/**
 * In place of `fetch`, with a limit for the size of the answer, which any server at the address of the provider may
 * send.
 * @throws {TypeError} when it is larger than 1 MiB, or coded although no coding was asked for; `fetch failed`, as of
 * `fetch`, with the cause when no whole answer comes · the reason of the signal
 */
export async function providerFetch(url: string, options: object): Promise<Response> {
  const { signal } = options as RequestOptions
  try {
    return await ask(url, options as RequestOptions)
  } catch (error) {
    if (signal?.aborted || error instanceof TypeError) throw error
    throw new TypeError('fetch failed', { cause: error })
  }
}

async function ask(url: string, { method, headers, body, signal }: RequestOptions): Promise<Response> {
  const answer = await askServer(url, {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    body: body === undefined || body === null ? undefined : String(body as string | URLSearchParams),
    signal: signal ?? undefined,
  })
  const answered = headersOf(answer.rawHeaders)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.byteLength
    // Leaving the loop ends the connection.
    if (size > maxAnswer) throw new TypeError(`the answer is larger than ${maxAnswer} bytes`)
    chunks.push(chunk)
  }
  if (!/^(?:identity)?$/i.test(answered.get('content-encoding') ?? '')) throw new TypeError('the answer is coded')
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status: answer.status, headers: answered })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
  return headers
}
