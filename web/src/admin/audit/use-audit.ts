import { useInfiniteQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'
import { conditionsOf, type AuditFilter } from './filter/audit-filter.ts'

const pageSize = 50
/** Pages that are shown at most: nobody reads on for longer, and every row costs. */
const maxPages = 20
/** Entries that are shown at most. */
export const maxShown = pageSize * maxPages

/**
 * The log, page by page, the newest first. It is asked for once and not again by itself: rows that move while somebody reads
 * would be worse than old ones. @param look another number asks anew
 */
export function useAudit(filter: AuditFilter, look: number) {
  return useInfiniteQuery({
    queryKey: ['admin', 'audit', filter, look],
    queryFn: ({ pageParam, signal }) =>
      createApiClient(signal).listAudit({
        query: {
          ...conditionsOf(filter),
          names: 'true',
          limit: String(pageSize),
          ...(pageParam !== undefined && { cursor: pageParam }),
        },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }, pages) => (pages.length < maxPages ? next_cursor : null),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
}
