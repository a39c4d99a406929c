import { useInfiniteQuery } from '@tanstack/react-query'
import { connect } from '#/api.ts'
import { conditionsOf, type AuditFilter } from './filter.ts'

const pageSize = 50
/** Pages that are shown at most: nobody reads on for longer, and every row costs. */
const mostPages = 20
/** Entries that are shown at most. */
export const mostShown = pageSize * mostPages

/**
 * The log, page by page, the newest first. It is asked for once and not again by itself: rows that move while somebody reads
 * would be worse than old ones. @param look another number asks anew
 */
export function useAudit(filter: AuditFilter, look: number) {
  return useInfiniteQuery({
    queryKey: ['admin', 'audit', filter, look],
    queryFn: ({ pageParam, signal }) =>
      connect(signal).listAudit({
        query: {
          ...conditionsOf(filter),
          names: 'true',
          limit: String(pageSize),
          ...(pageParam !== undefined && { cursor: pageParam }),
        },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }, pages) => (pages.length < mostPages ? next_cursor : null),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
}
