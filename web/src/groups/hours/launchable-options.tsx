import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'

/** The container types of a group, as choices of a `select`. */
export const LaunchableOptions = ({ types }: { types: ManagedGroupResponse['types'] }) =>
  types.map(({ type, display_name }) => (
    <option key={type} value={type}>
      {display_name}
    </option>
  ))
