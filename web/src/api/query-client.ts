import { QueryClient, type Query } from '@tanstack/react-query'
import { ApiError } from '@berth/api/client.ts'
import { isSignedOut } from '#/api/errors.ts'
import { redirectToLogin } from '#/session/login-redirect.ts'

/** Automatic retries of a request without a response, or with a status of 500 and above. */
const maxRetries = 2

/**
 * The cache of server data. Data is shown until newer data arrives; it is refetched when a page opens, when the window
 * gains focus, and when an event reports a change.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < maxRetries && isRetryable(error),
      // The page itself reports that Berth cannot be reached, and retries; see `Problem`.
      networkMode: 'always',
      throwOnError: (error) => {
        if (isSignedOut(error)) redirectToLogin()
        return false
      },
    },
    mutations: { networkMode: 'always' },
  },
})

/** A refusal stays a refusal: a retry changes nothing. */
const isRetryable = (error: unknown) => !(error instanceof ApiError) || error.status >= 500

/**
 * Whether a refetch is one request. A list with many loaded pages would refetch each of them in turn: it waits until a
 * user opens it.
 */
export function isOnePage({ state: { data } }: Pick<Query, 'state'>): boolean {
  const isList = typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
  return !isList || (data.pages as unknown[]).length <= 1
}
