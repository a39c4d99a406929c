import { useInfiniteQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

const pageSize = 100
/** Pages that are shown at most; a part of a name narrows the list. */
const maxPages = 20

export const groupsKey = ['admin', 'groups']

/** All groups, or those with this part in their names, page by page. */
export function useGroups(q: string) {
  return useInfiniteQuery({
    queryKey: [...groupsKey, q],
    queryFn: ({ pageParam, signal }) =>
      createApiClient(signal).listGroups({
        query: {
          limit: String(pageSize),
          ...(q !== '' && { q }),
          ...(pageParam !== undefined && { cursor: pageParam }),
        },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }, pages) => (pages.length < maxPages ? next_cursor : null),
    gcTime: 0,
  })
}
