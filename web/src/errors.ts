import { ApiError } from '@berth/api/client.ts'

const words = {
  late: 'Berth did not answer in time. It may still be working on it: wait a moment, then try again.',
  unreachable: 'Berth cannot be reached. Check your connection, then try again.',
  bug: 'Something went wrong in this page. Reload it and try again.',
}

/** One sentence for a person about anything that a request can throw; the server's own sentence when there is one. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError) return error.message
  if (error instanceof DOMException && error.name === 'TimeoutError') return words.late
  // `fetch` reports every failure of the network as a TypeError. Source: Fetch standard, section 5.6.
  return error instanceof TypeError ? words.unreachable : words.bug
}

/** The access token is missing, expired or revoked: signing in again helps. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** The request was given up by this page itself, so there is nobody to tell. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/**
 * Refused because the address was never verified, so that a new signup link is the way out.
 * The API has no codes beside the status; only its sentence tells a block from this. A sentence that changes
 * must not lock people out, hence "any 403 that does not speak of a block".
 */
export function isUnverified(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && !/blocked/i.test(error.message)
}
