import { createClient, refusalIn, type Client, type OnAnswer } from '@berth/api/client.ts'
import { takeBoot } from '#/api/boot-data.ts'
import { monitoredFetch } from '#/api/connectivity.ts'

/** What the server told this document; its proofs are for this module alone. */
const { csrf, visit, signedIn, ...rest } = takeBoot(document)
export const boot = rest

/** The token itself, where the document cannot carry the CSRF value; never anywhere but in this variable. */
let bearer: string | null = null

/** Whether somebody is signed in: this document was served to them, or they signed in on it. */
export const isSignedIn = () => signedIn || bearer !== null

/** Whether this document may change something: see `keepToken` for when a signed-in person's may not. */
export const canAct = () => csrf !== null || bearer !== null

/**
 * For plain http anywhere but on this machine: browsers do not say there that a person navigated, so the server cannot
 * tell our documents from what a container's page fetched, and gives them no CSRF value. The page then works with the
 * token of the sign-in, until it is left or reloaded.
 */
export function keepAccessToken(token: string): void {
  bearer = token
}

/** Whether the sign-in ends when this page is left: its token is nowhere else. */
export const endsWithPage = () => csrf === null && bearer !== null

/** Milliseconds that a usual request may take. Mailing a link is the slowest of them. */
const defaultTimeout = 30_000
/** Milliseconds that starting a container may take: more than the server waits for it, unless it is set to wait longer. */
export const launchTimeout = 200_000

/**
 * The API of this origin, with the cookie and the CSRF value of this document.
 * @param signal gives all requests of this client up
 * @param timeout  milliseconds after which one request ends with a `TimeoutError`
 * @param onAnswer is shown each answer, for what is in its headers alone
 */
export const createApiClient = (signal: AbortSignal, timeout = defaultTimeout, onAnswer?: OnAnswer): Client =>
  createClientWith(csrf, signal, timeout, onAnswer)

/**
 * As `connect`, for who is not signed in yet, to sign in and to ask for the link: the server sets its cookies for a page of
 * its own alone, so that this very browser may use the link without another press.
 */
export const createSignInClient = (signal: AbortSignal, onAnswer?: OnAnswer): Client =>
  createClientWith(visit, signal, defaultTimeout, onAnswer)

function createClientWith(proof: string | null, signal: AbortSignal, timeout: number, onAnswer?: OnAnswer): Client {
  const send: typeof fetch = (input, init) =>
    monitoredFetch(input, {
      ...init,
      headers: withProof(init?.headers, proof),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    })
  return createClient(send, '', onAnswer)
}

/**
 * An answer that does not end by itself, to be read as it comes. Not by `EventSource`: that can send no token, gives up
 * for good when Berth is being started again (503), and tells nobody why it was refused.
 * @param lastId of the event that was heard last @throws {ApiError} when the answer is not 2xx
 */
export async function openStream(path: string, lastId: string | undefined, signal: AbortSignal): Promise<Response> {
  const headers = withProof(lastId === undefined ? {} : { 'last-event-id': lastId }, csrf)
  const response = await monitoredFetch(path, { headers, credentials: 'same-origin', signal })
  if (!response.ok) throw await refusalIn(response)
  return response
}

function withProof(init: HeadersInit | undefined, proof: string | null): Headers {
  const headers = new Headers(init)
  if (proof !== null) headers.set('x-csrf-token', proof)
  if (bearer !== null) headers.set('authorization', `Bearer ${bearer}`)
  return headers
}
