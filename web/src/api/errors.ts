import { ApiError } from '@berth/api/client.ts'

/**
 * What went wrong: the server's sentence, which is in the reader's language, or the key of one of ours
 * (`frame.problem`).
 */
type Problem = { readonly sentence: string } | { readonly key: 'late' | 'unreachable' | 'bug' }

export function problemIn(error: unknown): Problem {
  if (error instanceof ApiError) return { sentence: error.message }
  if (error instanceof DOMException && error.name === 'TimeoutError') return { key: 'late' }
  return { key: isNetworkError(error) ? 'unreachable' : 'bug' }
}

/** There was no response. `fetch` reports every network failure as a TypeError. Source: Fetch standard, section 5.6. */
export const isNetworkError = (error: unknown) => error instanceof TypeError

/** The access token is missing, expired or revoked: a new sign-in helps. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** The page itself aborted the request, so there is nothing to report. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Refused, and a retry does not help: the session has ended, or the object to end no longer exists. */
export function isRefusedForGood(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 409)
}

/** Whether nothing answered, which the frame of every page says itself. */
export function isUnreachable(error: unknown): boolean {
  const problem = problemIn(error)
  return 'key' in problem && problem.key === 'unreachable'
}
