import { createClient, type Client } from '@berth/api/client.ts'
import { takeBoot } from '#/boot.ts'

const { csrf, signedIn } = takeBoot(document)

/** Whether this document was served to somebody who is signed in. Sign-in and sign-out load a new document. */
export const isSignedIn = signedIn

/** Milliseconds that a usual request may take. Mailing a link is the slowest of them. */
const usualLimit = 30_000
/** Milliseconds that starting a container may take; the first one may have to fetch its image. */
export const launchLimit = 180_000

/**
 * The API of this origin, with the cookie and the CSRF value of this document.
 * @param signal gives all requests of this client up
 * @param limit  milliseconds after which one request ends with a `TimeoutError`
 */
export function connect(signal: AbortSignal, limit = usualLimit): Client {
  return createClient((input, init) => {
    const headers = new Headers(init?.headers)
    if (csrf !== null) headers.set('x-csrf-token', csrf)
    return fetch(input, { ...init, headers, signal: AbortSignal.any([signal, AbortSignal.timeout(limit)]) })
  })
}
