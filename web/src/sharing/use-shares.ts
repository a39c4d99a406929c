import type { SharedContainer } from '@berth/api/schemas/features/sharing.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

const sharesKey = (type: string) => ['shares', type]

/** Containers of others that are shared with the signed-in user. */
export function useSharedWithMe() {
  return useQuery({
    queryKey: ['shared-with-me'],
    queryFn: async ({ signal }) => (await createApiClient(signal).listSharedContainers()).containers,
  })
}

/** Shares of the user's own container of this type, and its visitors when they were read. */
export function useShares(type: string) {
  return useQuery({
    queryKey: sharesKey(type),
    queryFn: ({ signal }) => createApiClient(signal).listShares({ params: { container_type: type } }),
  })
}

/** Reads shares again, after a change. */
export function useSharesChanged(type: string): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: sharesKey(type) })
}

/** What it is called: a port by its number behind the name, as in its address. */
export const sharedNameOf = ({ display_name: name, port }: SharedContainer) =>
  port === null ? name : `${name}:${port}`

/** Where Open leads. */
export const sharedUrlOf = ({ service_url: url, open_path: path }: SharedContainer) =>
  path === undefined ? url : `${url}/${path}`
