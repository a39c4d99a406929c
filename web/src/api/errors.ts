import { ApiError } from '@berth/api/client.ts'

/** What went wrong: the server's own sentence, which it writes in the reader's language, or the key of one of ours (`frame.problem`). */
export type Problem = { readonly sentence: string } | { readonly key: 'late' | 'unreachable' | 'bug' }

export function problemIn(error: unknown): Problem {
  if (error instanceof ApiError) return { sentence: error.message }
  if (error instanceof DOMException && error.name === 'TimeoutError') return { key: 'late' }
  return { key: isNetworkError(error) ? 'unreachable' : 'bug' }
}

/** Nobody answered. `fetch` reports every failure of the network as a TypeError. Source: Fetch standard, section 5.6. */
export const isNetworkError = (error: unknown) => error instanceof TypeError

/** The access token is missing, expired or revoked: signing in again helps. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** The request was given up by this page itself, so there is nobody to tell. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Refused, and it stays so: the session has ended, or what was to be ended has. */
export function isRefusedForGood(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 409)
}
