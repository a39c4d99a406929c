import { useTypes } from './groups/use-groups.ts'

/** Display name of a container type; its id until the names are loaded, and for a type that is not configured any more. */
export function useTypeName(): (type: string) => string {
  const types = useTypes().data
  return (type) => types?.find((each) => each.type === type)?.name ?? type
}

/** Display name of a container type, with its id as the title. */
export function TypeName({ type }: { type: string }) {
  return <span title={type}>{useTypeName()(type)}</span>
}
