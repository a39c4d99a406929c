import { useQuery } from '@tanstack/react-query'
import type { Environment } from '@berth/api/schemas/environments.ts'
import { boot, createApiClient } from '#/api/api-client.ts'

export const environmentsKey = ['environments']

/** Between two looks while something is built, and otherwise, in ms. */
const [buildInterval, idleInterval] = [1_500, 30_000]

export const isUnderWay = ({ versions }: Environment): boolean =>
  versions.some(({ state }) => state === 'waiting' || state === 'building')

/** Environments that the user may change, with their versions. */
export function useEnvironments() {
  return useQuery({
    queryKey: environmentsKey,
    queryFn: async ({ signal }) =>
      (await createApiClient(signal).listEnvironments({ query: { limit: '1000' } })).environments,
    refetchInterval: ({ state }) => (state.data?.some(isUnderWay) ? buildInterval : idleInterval),
  })
}

/** Groups that an environment may belong to: for administrators the first thousand by name, for managers their own. */
export function useBuilderGroups() {
  return useQuery({
    queryKey: [...environmentsKey, 'groups'],
    queryFn: async ({ signal }) => {
      const api = createApiClient(signal)
      if (boot.isAdmin) return (await api.listGroups({ query: { limit: '1000' } })).groups
      return (await api.listOwnGroups()).groups.filter(({ role }) => role === 'manager')
    },
  })
}
