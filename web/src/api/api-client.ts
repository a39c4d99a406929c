import { createClient, refusalIn, type Client, type OnAnswer } from '@berth/api/client.ts'
import { anySignal } from './retry.ts'
import { takeBoot } from '#/api/boot-data.ts'
import { monitoredFetch } from '#/api/connectivity.ts'
import { failedRefresh, SessionRefresh, type RefreshOutcome } from '#/session/session-renewal.ts'

/** The boot data of this document. The CSRF value and the visit token stay inside this module. */
const { csrf, visit, signedIn, linkSecret, ...rest } = takeBoot(document)
export const boot = rest

/** The secret of the link that this document was opened by, for `keepLinkSecret`. */
export const openedLinkSecret = linkSecret

/** The access token, where the document cannot carry a CSRF value; kept only in this variable. */
let bearer: string | null = null

/** Whether a user is signed in: the document was served to one, or one signed in on it. */
export const isSignedIn = () => signedIn || bearer !== null

/** Whether this document may change something: see `keepAccessToken` for a signed-in user who may not. */
export const canAct = () => csrf !== null || bearer !== null

/**
 * For plain http on another host than localhost: browsers do not send there that a user navigated, so the server cannot
 * distinguish our documents from what a container's page fetches, and gives them no CSRF value. The page then uses the
 * token of the sign-in, until it is left or reloaded.
 */
export function keepAccessToken(token: string): void {
  bearer = token
}

/** Whether the sign-in ends when this page is left: its token is nowhere else. */
export const isSignInLostOnLeave = () => csrf === null && bearer !== null

/** Whether only a navigation can renew the session: the document has no proof for a refresh. */
export const isContinuable = () => signedIn && csrf === null && bearer === null && boot.acting === null

/** Renews the session of this browser; only for documents that can prove that they are Berth's own. */
export const sessionRefresh = new SessionRefresh(refresh, globalThis.navigator?.locks)

async function refresh(): Promise<RefreshOutcome> {
  if (csrf === null || bearer !== null || boot.acting !== null) return {}
  try {
    const client = createClientWith(csrf, new AbortController().signal, defaultTimeout, undefined, false)
    return { lifetime: (await client.refreshSession()).expires_in }
  } catch (error) {
    return failedRefresh(error)
  }
}

/** Timeout of a usual request in ms. Mailing a link is the slowest of them. */
const defaultTimeout = 30_000
/** Timeout of a launch in ms: longer than the server waits by default (`LAUNCH_TIMEOUT`). */
export const launchTimeout = 200_000

/**
 * A client of this origin's API, with the cookie and the CSRF value of this document.
 * @param signal aborts all requests of this client
 * @param timeout ms after which one request fails with a `TimeoutError`
 * @param onAnswer receives each response, for what is in its headers alone
 */
export const createApiClient = (signal: AbortSignal, timeout = defaultTimeout, onAnswer?: OnAnswer): Client =>
  createClientWith(csrf, signal, timeout, onAnswer)

/**
 * For what needs no proof: without headers of ours the browser takes what the document's `Link` has begun to load. The
 * list of the dashboard is that.
 */
export const createPlainClient = (signal: AbortSignal): Client => createClientWith(null, signal, defaultTimeout)

/**
 * Does what `createApiClient` does for a user who is not signed in yet: signs in and requests magic links. The visit
 * token lets the server set its cookies for this browser, so that the link works here without another press.
 */
export const createSignInClient = (signal: AbortSignal, onAnswer?: OnAnswer): Client =>
  createClientWith(visit, signal, defaultTimeout, onAnswer)

function createClientWith(
  proof: string | null,
  signal: AbortSignal,
  timeout: number,
  onAnswer?: OnAnswer,
  isRenewed = true,
): Client {
  const send: typeof fetch = (input, init) => {
    const request = () =>
      monitoredFetch(input, {
        ...init,
        headers: withProof(init?.headers, proof),
        signal: anySignal(signal, AbortSignal.timeout(timeout)),
      })
    return isRenewed ? renewed(request) : request()
  }
  return createClient(send, '', onAnswer)
}

/**
 * Sends a request; one that is refused because its token has expired is sent again once the session is renewed.
 * @throws what the renewal failed with, where it is not known whether the session goes on
 */
export async function renewed(request: () => Promise<Response>): Promise<Response> {
  const response = await request()
  if (response.status !== 401 || !signedIn) return response
  const { lifetime, failure } = await sessionRefresh.run()
  if (failure !== undefined) throw failure
  return lifetime === undefined ? response : request()
}

/**
 * Opens a response that is read as it arrives. `EventSource` cannot send a token, does not reconnect after a 503 (Berth
 * is starting), and hides why the server refused.
 * @param lastId of the last event received @throws {ApiError} when the answer is not 2xx
 */
export async function openStream(path: string, lastId: string | undefined, signal: AbortSignal): Promise<Response> {
  const headers = withProof(lastId === undefined ? {} : { 'last-event-id': lastId }, csrf)
  const response = await renewed(() => monitoredFetch(path, { headers, credentials: 'same-origin', signal }))
  if (!response.ok) throw await refusalIn(response)
  return response
}

/** Gives a request that `fetch` does not send these headers, and what proves that it comes from this document. */
export function proveRequest(request: XMLHttpRequest, headers: HeadersInit): void {
  withProof(headers, csrf).forEach((value, name) => request.setRequestHeader(name, value))
}

function withProof(init: HeadersInit | undefined, proof: string | null): Headers {
  const headers = new Headers(init)
  if (proof !== null) headers.set('x-csrf-token', proof)
  if (bearer !== null) headers.set('authorization', `Bearer ${bearer}`)
  return headers
}
