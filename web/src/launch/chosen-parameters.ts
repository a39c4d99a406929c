import type { LaunchBody } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'

/** Parameters of a container type, by name. */
export type Parameters = NonNullable<ContainerEntry['parameters']>
/** Values that a user chose, by name. */
export type ChosenParameters = NonNullable<LaunchBody['parameters']>

/** What a form says about parameters: the fields have their names, and a box that is not ticked has no field. */
export function chosenParameters(parameters: Parameters, data: Pick<FormData, 'get'>): ChosenParameters {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { type }]) => {
      const value = data.get(name)
      if (type === 'boolean') return [name, value !== null]
      return [name, type === 'number' ? Number(value) : String(value ?? '')]
    }),
  )
}
