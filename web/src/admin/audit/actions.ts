/** All audit actions by subject; see docs/reference/audit-actions.md. */
const actionGroups = {
  user: [
    'block',
    'unblock',
    'delete',
    'promote',
    'demote',
    'takeover',
    'end-takeover',
    'invite',
    'invite-failed',
    'resend-verification',
    'resend-verification-failed',
    'export',
    'download-archive',
  ],
  group: [
    'create',
    'change',
    'delete',
    'add-member',
    'remove-member',
    'invite',
    'invite-failed',
    'preview-members',
    'end-term',
    'cancel-term-end',
    'retry-term-end',
    'remove-homes',
    'delete-archives',
    'withdraw-invitation',
    'join',
    'create-join-code',
    'delete-join-code',
    'start',
    'restart-container',
    'read-failure',
    'ask-to-look',
    'decline-look',
    'end',
    'set-timetable',
    'stop',
    'block',
    'unblock',
  ],
  container: ['block', 'unblock', 'delete', 'share', 'unshare', 'stop'],
  home: ['download', 'upload', 'reset', 'snapshot', 'restore', 'remove-snapshot'],
  token: ['create', 'use', 'remove'],
  keys: ['rotate'],
  templates: ['reload', 'update'],
  link: ['print'],
} as const

type ActionGroup = keyof typeof actionGroups
/** Such as `user.block`. */
type AuditAction = { [G in ActionGroup]: `${G}.${(typeof actionGroups)[G][number]}` }[ActionGroup]

export const groups = Object.keys(actionGroups) as ActionGroup[]

export const actionsOf = (group: ActionGroup): AuditAction[] =>
  actionGroups[group].map((name) => `${group}.${name}` as AuditAction)

const all = new Set<string>(groups.flatMap(actionsOf))

/** Whether the catalogue has text for the action: a newer server may log more. */
export const isKnownAction = (action: string): action is AuditAction => all.has(action)
