import { useQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'
import { pages } from '#/paths.ts'

const ownGroupsKey = ['own-groups']

/** Groups of the signed-in user, by name. */
export function useOwnGroups() {
  return useQuery({
    queryKey: ownGroupsKey,
    queryFn: async ({ signal }) => (await createApiClient(signal).listOwnGroups()).groups,
  })
}

/** Page with the members of a group, for who manages it. */
export const membersPath = (id: number) => `${pages.groupMembers}?group=${id}`
