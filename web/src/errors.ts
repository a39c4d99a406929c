import { ApiError } from '@berth/api/client.ts'

/** What went wrong: the server's own sentence, which it writes in the reader's language, or the key of one of ours (`frame.problem`). */
export type Problem = { readonly sentence: string } | { readonly key: 'late' | 'unreachable' | 'bug' }

export function problemIn(error: unknown): Problem {
  if (error instanceof ApiError) return { sentence: error.message }
  if (error instanceof DOMException && error.name === 'TimeoutError') return { key: 'late' }
  // `fetch` reports every failure of the network as a TypeError. Source: Fetch standard, section 5.6.
  return { key: error instanceof TypeError ? 'unreachable' : 'bug' }
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
