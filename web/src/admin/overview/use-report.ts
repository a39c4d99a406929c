import { useQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

/** ms between two looks; none is taken while the page is hidden. */
const [reportEvery, historyEvery] = [10_000, 60_000]

/** How the installation is now; looked at again every ten seconds. */
export const useReport = () =>
  useQuery({
    queryKey: ['admin', 'system'],
    queryFn: ({ signal }) => createApiClient(signal).systemReport(),
    refetchInterval: reportEvery,
  })

/** How it was over the last day; looked at again every minute, which is how often there is something new. */
export const useHistory = () =>
  useQuery({
    queryKey: ['admin', 'history'],
    queryFn: async ({ signal }) => (await createApiClient(signal).systemHistory()).samples,
    refetchInterval: historyEvery,
  })
