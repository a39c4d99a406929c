import type { TermEnd } from '@berth/api/schemas/groups/term-end.ts'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'
import { groupsKey } from '#/admin/groups/use-groups.ts'
import { pagedQuery } from '#/components/paged-list.tsx'

const pageSize = '100'
/** While it is under way, in ms. */
const interval = 3_000
/** The same for its members: every page that is shown is read again, in ms. */
const membersInterval = 15_000
/** The engine lists all homes, in ms. */
const timeout = 60_000

const termEndKey = (id: string) => [...groupsKey, 'term-end', id]

/** The group itself. */
export function useGroup(id: string) {
  return useQuery({
    queryKey: [...groupsKey, 'one', id],
    queryFn: async ({ signal }) => (await createApiClient(signal).readGroup({ params: { id } })).group,
  })
}

/** How far the latest end of term of the group is; null: there is none. */
export function useTermEnd(id: string) {
  return useQuery({
    queryKey: termEndKey(id),
    queryFn: async ({ signal }) => (await createApiClient(signal).readTermEnd({ params: { id } })).term_end,
    refetchInterval: ({ state }) => (state.data && state.data.phase !== 'done' ? interval : false),
  })
}

/** What it will do, page by page; the sums are with the first. */
export function usePreview(id: string, keepsAccounts: boolean) {
  return useInfiniteQuery(
    pagedQuery([...termEndKey(id), 'preview', keepsAccounts], (after, signal) =>
      createApiClient(signal, timeout).previewTermEnd({
        params: { id },
        query: { limit: pageSize, ...(keepsAccounts && { keep_accounts: 'true' }), ...after },
      }),
    ),
  )
}

/** Members whom it concerns; read again while it is under way, and with each phase. */
export function useTermEndMembers(id: string, { phase }: Pick<TermEnd, 'phase'>) {
  return useInfiniteQuery({
    ...pagedQuery([...termEndKey(id), 'members', phase], (after, signal) =>
      createApiClient(signal).listTermEndMembers({ params: { id }, query: { limit: pageSize, ...after } }),
    ),
    placeholderData: (before) => before,
    refetchInterval: phase === 'done' ? false : membersInterval,
  })
}
