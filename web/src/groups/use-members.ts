import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { boot, createApiClient } from '#/api/api-client.ts'
import { useOwnGroups } from './use-own-groups.ts'

const pageSize = 300
/** Pages that are shown at most. */
const maxPages = 20

const membersKey = (id: string) => ['group-members', id]

/** Members of a group with their containers of its types, page by page. */
export function useMembers(id: string) {
  return useInfiniteQuery({
    queryKey: membersKey(id),
    queryFn: ({ pageParam, signal }) =>
      createApiClient(signal).listMembers({
        params: { id },
        query: { limit: String(pageSize), ...(pageParam !== undefined && { cursor: pageParam }) },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }, pages) => (pages.length < maxPages ? next_cursor : null),
    gcTime: 0,
  })
}

/** Reads members again, after a change. */
export function useMembersChanged(id: string): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: membersKey(id) })
}

/** What is known of a group beside its members: a manager sees the name, an administrator the source as well. */
export function useGroupName(id: string): { readonly name: string | undefined; readonly provider: string | undefined } {
  const own = useOwnGroups()
  const known = own.data?.find((group) => String(group.id) === id)
  const asAdmin = useQuery({
    queryKey: ['admin', 'group', id],
    queryFn: async ({ signal }) => (await createApiClient(signal).readGroup({ params: { id } })).group,
    enabled: boot.isAdmin,
  })
  const source = asAdmin.data?.source
  return {
    name: asAdmin.data?.name ?? known?.name,
    provider: source === undefined || source === 'local' ? undefined : source,
  }
}
