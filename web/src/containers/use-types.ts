import { useQuery } from '@tanstack/react-query'
import { createApiClient } from '#/api/api-client.ts'

/** Configured container types with the names that people read; no data until they are loaded, or when they cannot be read. */
export function useTypes() {
  return useQuery({
    queryKey: ['types'],
    queryFn: async ({ signal }) =>
      (await createApiClient(signal).listContainers()).containers.map(({ type, display_name: name }) => ({
        type,
        name,
      })),
    staleTime: 600_000,
  })
}
