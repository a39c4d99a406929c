import { useInfiniteQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'
import { pagedQuery } from '#/components/paged-list.tsx'

const pageSize = '100'

export const groupsKey = ['admin', 'groups']

/** All groups, or those with this part in their names, page by page. */
export function useGroups(q: string) {
  return useInfiniteQuery(
    pagedQuery([...groupsKey, q], (after, signal) =>
      createApiClient(signal).listGroups({ query: { limit: pageSize, ...(q !== '' && { q }), ...after } }),
    ),
  )
}
