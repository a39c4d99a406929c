import type { Provider } from './provider.ts'
import { SignInProblem } from './sign-in-problem.ts'

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

/** The groups that become memberships: those that `member_groups` names, all of them without it. */
export function membershipGroups({ memberGroups }: Provider, groups: readonly string[]): readonly string[] {
  if (memberGroups === null) return groups
  const [prefixes, names] = [[] as string[], new Set<string>()]
  for (const each of memberGroups)
    if (each.endsWith('*')) prefixes.push(each.slice(0, -1))
    else names.add(each)
  return groups.filter((group) => names.has(group) || prefixes.some((prefix) => group.startsWith(prefix)))
}

/** Whether the groups make a person an administrator; undefined: they say nothing, so nothing changes. */
export function isAdminByGroups({ adminGroups }: Provider, groups: readonly string[] | undefined): boolean | undefined {
  if (adminGroups === null || groups === undefined) return undefined
  return adminGroups.some((group) => groups.includes(group))
}
