import { useQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

export const templatesKey = ['admin', 'templates']

/** Between two requests while the page is open, in ms: containers are replaced one after the other. */
const pollInterval = 10_000

/** All templates, with who runs an older version. */
export function useTemplates() {
  return useQuery({
    queryKey: templatesKey,
    queryFn: ({ signal }) => createApiClient(signal).listTemplates(),
    refetchInterval: pollInterval,
    gcTime: 0,
  })
}
