import { covers, isExpired } from '#/templates/group-directory.ts'
import { expiredGroup } from '#/templates/launch-rules.ts'
import type { GroupRole } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import type { StayReason } from '#/store/term-end-members.ts'
import type { User } from '#/store/users.ts'

/** Why an end of term leaves a member as they are. */
export type UntouchedReason = 'administrator' | 'manager' | 'blocked'

/** What is known of a member. */
export interface MemberFacts {
  readonly user: Pick<User, 'id' | 'isAdmin' | 'isBlocked'>
  /** In the group that ends. */
  readonly role: GroupRole
  /** Other groups of theirs. */
  readonly otherGroups: readonly Group[]
  /** Types of which they have a container's record or a home. */
  readonly types: readonly string[]
}

/** What an end of term does to a member. */
export type MemberOutcome =
  | { readonly untouched: UntouchedReason }
  | {
      readonly untouched: null
      /** Types whose homes are archived and removed with their containers. */
      readonly ends: readonly string[]
      /** Types that stay. */
      readonly keeps: readonly string[]
      /** Why the account stays; null: it is removed. */
      readonly stays: StayReason | null
    }

export interface OutcomeContext {
  readonly group: Group
  /** Groups that the template of a type names. */
  readonly namedBy: (type: string) => readonly string[]
  readonly removesAccounts: boolean
  readonly now: Date
}

/**
 * The rule of an end of term. A home ends when the end of the group takes its type from the member, as launches see it: a
 * type that another group of theirs names stays. An account ends when nothing of theirs is left.
 */
export function decideOutcome({ user, role, otherGroups, types }: MemberFacts, context: OutcomeContext): MemberOutcome {
  if (user.isAdmin) return { untouched: 'administrator' }
  if (role === 'manager') return { untouched: 'manager' }
  if (user.isBlocked) return { untouched: 'blocked' }
  const { group, namedBy, removesAccounts, now } = context
  const ended = isExpired(group, now) ? group : { ...group, expiresAt: now }
  const isTaken = (type: string) =>
    covers(group, type) && expiredGroup([ended, ...otherGroups], type, namedBy(type), now) !== undefined
  const ends = types.filter(isTaken)
  const keeps = types.filter((type) => !ends.includes(type))
  return { untouched: null, ends, keeps, stays: reasonToStay(removesAccounts, otherGroups, keeps) }
}

function reasonToStay(
  removesAccounts: boolean,
  otherGroups: readonly Group[],
  keeps: readonly string[],
): StayReason | null {
  if (!removesAccounts) return 'option'
  if (otherGroups.length > 0) return 'group'
  return keeps.length > 0 ? 'container' : null
}
