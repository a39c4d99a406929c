import { useInfiniteQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

const pageSize = 50
/** Pages that are shown at most; an owner narrows the list. */
const maxPages = 20

export const tokensKey = ['admin', 'tokens']

/** API tokens of all users, or of one, page by page, newest first. @param user id or e-mail address; empty for all */
export function useTokens(user: string) {
  return useInfiniteQuery({
    queryKey: [...tokensKey, user],
    queryFn: ({ pageParam, signal }) =>
      createApiClient(signal).listAllApiTokens({
        query: {
          limit: String(pageSize),
          ...(user !== '' && { user }),
          ...(pageParam !== undefined && { cursor: pageParam }),
        },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }, pages) => (pages.length < maxPages ? next_cursor : null),
    gcTime: 0,
  })
}
