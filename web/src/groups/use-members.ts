import {
  infiniteQueryOptions,
  queryOptions,
  useInfiniteQuery,
  usePrefetchInfiniteQuery,
  usePrefetchQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { Group } from '@berth/api/schemas/groups.ts'
import { createApiClient } from '#/api/api-client.ts'
import { pagedQuery } from '#/components/paged-list.tsx'

const pageSize = '300'

/** Keys of the queries, for a change that another page made. */
const membersKey = (id: string) => ['group-members', id]
const managedGroupKey = (id: string) => ['managed-group', id]

const membersQuery = (id: string) =>
  infiniteQueryOptions({
    ...pagedQuery(membersKey(id), (after, signal) =>
      createApiClient(signal).listMembers({ params: { id }, query: { limit: pageSize, ...after } }),
    ),
    // What was asked for before the list is on the page is kept until it is.
    gcTime: 5_000,
  })

const managedGroupQuery = (id: string) =>
  queryOptions({
    queryKey: managedGroupKey(id),
    queryFn: ({ signal }) => createApiClient(signal).readManagedGroup({ params: { id } }),
  })

/** Members of a group with their containers of its types, page by page. */
export const useMembers = (id: string) => useInfiniteQuery(membersQuery(id))

/**
 * Asks for a group and its members while the page is rendered: what a page asks for by itself waits for its first
 * paint.
 */
export function usePrefetchedGroup(id: string): void {
  usePrefetchInfiniteQuery(membersQuery(id))
  usePrefetchQuery(managedGroupQuery(id))
}

/** Reads the group, its members and its invitations again, after a change. */
export function useMembersChanged(id: string): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await client.invalidateQueries({ queryKey: membersKey(id) })
    await client.invalidateQueries({ queryKey: managedGroupKey(id) })
    await client.invalidateQueries({ queryKey: invitationsKey(id) })
  }
}

/** A group as its managers see it, with its configured types. */
export const useManagedGroup = (id: string) => useQuery(managedGroupQuery(id))

/** Whether a group is over, by the clock of the browser; the server decides. */
export const hasEnded = ({ expires_at: at }: Pick<Group, 'expires_at'>) => at !== null && Date.parse(at) <= Date.now()

/** The provider whose affair the members of a group are; undefined for a group that was made in Berth. */
export const providerOf = ({ source }: Pick<Group, 'source'>) => (source === 'local' ? undefined : source)

/** Key of the query, for changes of the page. */
const invitationsKey = (id: string) => ['group-invitations', id]

/** Invitations to a group that are not accepted yet, page by page. */
export function useInvitations(id: string) {
  return useInfiniteQuery({
    ...pagedQuery(invitationsKey(id), (after, signal) =>
      createApiClient(signal).listGroupInvitations({ params: { id }, query: after }),
    ),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
}

/** Reads invitations again, after a change. */
export function useInvitationsChanged(id: string): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: invitationsKey(id) })
}
