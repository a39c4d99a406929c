import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

/** Key of the query, for changes of the page. */
export const invitationsKey = (id: string) => ['group-invitations', id]

/** Invitations to a group that are not accepted yet, page by page. */
export function useInvitations(id: string) {
  return useInfiniteQuery({
    queryKey: invitationsKey(id),
    queryFn: ({ pageParam, signal }) =>
      createApiClient(signal).listGroupInvitations({
        params: { id },
        query: pageParam === undefined ? {} : { cursor: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    gcTime: 0,
  })
}

/** Reads invitations again, after a change. */
export function useInvitationsChanged(id: string): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: invitationsKey(id) })
}
