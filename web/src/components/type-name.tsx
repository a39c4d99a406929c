import { useCallback } from 'react'
import { useTypes } from '#/containers/use-types.ts'

/**
 * Display name of a container type; its id until the names are loaded, and for a type that is not configured any more. The function
 * stays the same until the names change.
 */
export function useTypeName(): (type: string) => string {
  const types = useTypes().data
  return useCallback((type) => types?.find((each) => each.type === type)?.name ?? type, [types])
}

/** Display name of a container type, with its id as the title. */
export function TypeName({ type }: { type: string }) {
  return <span title={type}>{useTypeName()(type)}</span>
}
