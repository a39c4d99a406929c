import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'

/** The actions of an administrator on one user. */
export type UserAction = 'block' | 'unblock' | 'takeOver' | 'resend' | 'promote' | 'demote' | 'delete'

/** Why an action is not possible, as a key of the texts of users. */
type Obstacle = 'self' | 'blocked'

/** The server's rule; `shown` says whether the action is offered at all. */
interface Rule {
  readonly shown: (user: AdminUser) => boolean
  readonly obstacle: (user: AdminUser, isSelf: boolean) => Obstacle | undefined
}

const self = (_: AdminUser, isSelf: boolean) => (isSelf ? 'self' : undefined)
const none = () => undefined
const always = () => true

/**
 * Each action with its rule, in the order of the menu. The server decides again at every request, and keeps at least
 * one administrator. (The reader of this page is an administrator, so another user is never the last one.)
 */
const rules = {
  takeOver: { shown: always, obstacle: self },
  resend: {
    shown: ({ state }) => state === 'registered',
    obstacle: ({ is_blocked }) => (is_blocked ? 'blocked' : undefined),
  },
  promote: { shown: ({ is_admin }) => !is_admin, obstacle: none },
  demote: { shown: ({ is_admin }) => is_admin, obstacle: self },
  block: { shown: ({ is_blocked }) => !is_blocked, obstacle: self },
  unblock: { shown: ({ is_blocked }) => is_blocked, obstacle: none },
  delete: { shown: always, obstacle: self },
} as const satisfies Readonly<Record<UserAction, Rule>>

/** An entry of a user's menu. */
interface OfferedAction {
  readonly action: UserAction
  /** Why it is not possible; undefined when it is. */
  readonly obstacle: Obstacle | undefined
}

/** The actions to offer for a user. @param myId of the signed-in administrator; undefined while unknown */
export function actionsFor(user: AdminUser, myId: number | undefined): readonly OfferedAction[] {
  const isSelf = user.id === myId
  return (Object.keys(rules) as UserAction[])
    .filter((action) => rules[action].shown(user))
    .map((action) => ({ action, obstacle: rules[action].obstacle(user, isSelf) }))
}

/**
 * When a user last used Berth: an account that signed up and works in the container that was started for it has not signed in
 * since, so that only its containers have a time.
 */
export function lastUseOf({ last_used, containers }: Pick<AdminUser, 'last_used' | 'containers'>): string | null {
  const all = [last_used, ...containers.map((each) => each.last_used)].filter((at) => at !== null)
  // ISO 8601 in UTC: the order of the text is that of time.
  return all.toSorted().at(-1) ?? null
}
