import { useInfiniteQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'
import { conditionsOf, type AuditFilter } from './filter/audit-filter.ts'

const pageSize = 50
/** Max pages that are shown: every row costs, and filters lead further. */
const maxPages = 20
/** Max entries that are shown. */
export const maxShown = pageSize * maxPages

/**
 * The log, page by page, newest first. It is not refetched automatically: rows must not move while a user reads.
 * @param refreshes a new number refetches
 */
export function useAudit(filter: AuditFilter, refreshes: number) {
  return useInfiniteQuery({
    queryKey: ['admin', 'audit', filter, refreshes],
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
