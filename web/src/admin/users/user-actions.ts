import type { AdminUser } from '@berth/api/schemas/admin.ts'

/** What an administrator can do to one user. */
export type UserAction = 'block' | 'unblock' | 'takeOver' | 'resend' | 'promote' | 'demote' | 'delete'

/** Why an action is not there to be done, as a key of the words of users. */
export type Obstacle = 'self' | 'blocked'

/** As the server decides; `shown` is whether it makes sense to offer it at all. */
interface Rule {
  readonly shown: (user: AdminUser) => boolean
  readonly obstacle: (user: AdminUser, isSelf: boolean) => Obstacle | undefined
}

const self = (_: AdminUser, isSelf: boolean) => (isSelf ? 'self' : undefined)
const none = () => undefined
const always = () => true

/**
 * Each action with its rule, in the order of the menu. The server decides again at every request: that somebody else stays
 * in charge is seen to there. (Whoever looks at this page is in charge, so of others nobody can be the last.)
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

/** One line of the menu of a user. */
export interface OfferedAction {
  readonly action: UserAction
  /** Why it cannot be done; undefined when it can. */
  readonly obstacle: Obstacle | undefined
}

/** What to offer for a user. @param myId of the administrator who looks; undefined while that is not known yet */
export function actionsFor(user: AdminUser, myId: number | undefined): readonly OfferedAction[] {
  const isSelf = user.id === myId
  return (Object.keys(rules) as UserAction[])
    .filter((action) => rules[action].shown(user))
    .map((action) => ({ action, obstacle: rules[action].obstacle(user, isSelf) }))
}
