import { discover } from './provider-discovery.ts'
import { problemOf } from './problem-of.ts'
import { providerFetch } from './provider-fetch.ts'
import type { Provider } from './provider.ts'

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
