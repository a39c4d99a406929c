import type { Provider } from './settings/provider.ts'
import { SignInProblem } from './protocol/sign-in-problem.ts'

/**
 * Whether the groups of a person let them in. @param groups undefined: the provider does not say
 * @throws {SignInProblem} not-in-group · groups-unknown
 */
export function requireAllowedGroup({ allowedGroups }: Provider, groups: readonly string[] | undefined): void {
  if (allowedGroups === null) return
  if (groups === undefined)
    throw new SignInProblem('groups-unknown', 'allowed_groups is set, and the provider sent no list of groups')
  if (!allowedGroups.some((group) => groups.includes(group)))
    throw new SignInProblem('not-in-group', 'the user is in none of allowed_groups')
}

/** Whether the groups make a person an administrator; undefined: they say nothing, so nothing changes. */
export function isAdminByGroups({ adminGroups }: Provider, groups: readonly string[] | undefined): boolean | undefined {
  if (adminGroups === null || groups === undefined) return undefined
  return adminGroups.some((group) => groups.includes(group))
}
