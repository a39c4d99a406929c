import { useQuery } from '@tanstack/react-query'
import type { Environment } from '@berth/api/schemas/environments.ts'
import { createApiClient } from '#/api/api-client.ts'

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
