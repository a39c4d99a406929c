import { QueryClient, type Query } from '@tanstack/react-query'
import { ApiError } from '@berth/api/client.ts'
import { isSignedOut } from '#/api/errors.ts'
import { redirectToLogin } from '#/session/login-redirect.ts'

/** How often a request that nobody answered, or that the server could not answer just now, is made again by itself. */
const maxRetries = 2

/**
 * What the pages know of the server. Answers are shown until a newer one is there; looks are taken when a page opens, when
 * the window comes back, and when an event says that something changed.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < maxRetries && isRetryable(error),
      // A page says itself that Berth cannot be reached, and goes on trying; see `Problem`.
      networkMode: 'always',
      throwOnError: (error) => {
        if (isSignedOut(error)) redirectToLogin()
        return false
      },
    },
    mutations: { networkMode: 'always' },
  },
})

/** A refusal stays a refusal, however often it is asked for. */
const isRetryable = (error: unknown) => !(error instanceof ApiError) || error.status >= 500

/**
 * Whether loading it anew is one request. Of a list of which many pages were loaded each would be asked for again, one after
 * the other: that waits until somebody wants it.
 */
export function isOnePage({ state: { data } }: Pick<Query, 'state'>): boolean {
  const isList = typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
  return !isList || (data.pages as unknown[]).length <= 1
}
