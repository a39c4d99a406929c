import { useQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

/** Poll intervals in ms; a hidden page does not poll. */
const [reportEvery, historyEvery] = [10_000, 60_000]

/** The current report, polled every ten seconds. */
export const useReport = () =>
  useQuery({
    queryKey: ['admin', 'system'],
    queryFn: ({ signal }) => createApiClient(signal).systemReport(),
    refetchInterval: reportEvery,
  })

/** The history of the last day, polled every minute, which is the rate of new samples. */
export const useHistory = () =>
  useQuery({
    queryKey: ['admin', 'history'],
    queryFn: async ({ signal }) => (await createApiClient(signal).systemHistory()).samples,
    refetchInterval: historyEvery,
  })
