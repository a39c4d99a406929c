import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { createApiClient } from '#/api/api-client.ts'
import { TypeSign } from './type-sign.tsx'

/**
 * Display name of a container type; its id until the names are loaded, and for a type that is not configured any more.
 * The function stays the same until the names change.
 */
export function useTypeName(): (type: string) => string {
  const types = useTypes().data
  return useCallback((type) => types?.find((each) => each.type === type)?.name ?? type, [types])
}

/** Display name of a container type, with its id as the title. */
export function TypeName({ type }: { type: string }) {
  return <span title={type}>{useTypeName()(type)}</span>
}

/** The picture and the name of a container type, on a page about it alone; their space is kept until they are there. */
export function TypeLine({ type }: { type: string }) {
  const found = useTypes().data?.find((each) => each.type === type)
  return (
    <p className="type-line">
      {found && (
        <>
          <TypeSign icon={found.icon} />
          <b>{found.name}</b>
        </>
      )}
    </p>
  )
}

/**
 * Configured container types with the names that people read; no data until they are loaded, or when they cannot be
 * read.
 */
export function useTypes() {
  return useQuery({
    queryKey: ['types'],
    queryFn: async ({ signal }) =>
      (await createApiClient(signal).listContainers()).containers.map(({ type, display_name: name, icon }) => ({
        type,
        name,
        icon,
      })),
    staleTime: 600_000,
  })
}
