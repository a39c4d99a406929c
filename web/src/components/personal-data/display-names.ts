import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { createApiClient } from '#/api/api-client.ts'

/** Display names of container types by their ids. */
const TypeNames = createContext<ReadonlyMap<string, string>>(new Map())

export const DisplayNamesProvider = TypeNames.Provider

/** The names of what the user may launch; none until they are loaded. */
export function useDisplayNames(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['personal-data', 'types'],
    queryFn: async ({ signal }) => (await createApiClient(signal).listContainers()).containers,
  })
  return new Map(data?.map(({ type, display_name: name }) => [type, name]))
}

/** Of the nearest provider. */
export const useProvidedDisplayNames = () => useContext(TypeNames)
