import type { AdminContainer, ListedContainer } from '@berth/api/schemas/administration/admin.ts'

/** The actions of an administrator on one container; no rule protects any, so each offered action is possible. */
export type ContainerAction = 'owner' | 'logs' | 'restart' | 'stop' | 'block' | 'unblock' | 'delete'

/** The actions to offer for a container, in the order of the menu. */
export function containerActionsFor({
  is_blocked,
  status,
}: Pick<ListedContainer, 'is_blocked' | 'status'>): readonly ContainerAction[] {
  return [
    'owner',
    ...(status === 'missing' ? [] : (['logs'] as const)),
    ...(isUp(status) || (status === 'failed' && !is_blocked) ? (['restart'] as const) : []),
    ...(isUp(status) ? (['stop'] as const) : []),
    is_blocked ? 'unblock' : 'block',
    'delete',
  ]
}

const isUp = (status: ListedContainer['status']) => status === 'running' || status === 'paused'

/**
 * The row after a block or unblock. The response has no status: a blocked container was stopped before it was sent, and
 * an unblock starts nothing.
 */
export function blockedNow(row: ListedContainer, answer: AdminContainer | undefined): ListedContainer {
  if (!answer) return row
  const isStopped = answer.is_blocked && isUp(row.status)
  return { ...row, ...answer, status: isStopped ? 'stopped' : row.status }
}
