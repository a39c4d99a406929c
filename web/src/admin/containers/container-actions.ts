import type { AdminContainer, ListedContainer } from '@berth/api/schemas/admin.ts'

/** What an administrator can do to one container; no rule protects any, so all that is offered can be done. */
export type ContainerAction = 'owner' | 'block' | 'unblock' | 'delete'

/** What to offer for a container, in the order of the menu. */
export function containerActionsFor({ is_blocked }: Pick<ListedContainer, 'is_blocked'>): readonly ContainerAction[] {
  return ['owner', is_blocked ? 'unblock' : 'block', 'delete']
}

/**
 * A row after a block or its end was answered. The answer has no status: what was blocked was stopped before it came, and
 * an unblock starts nothing.
 */
export function blockedNow(row: ListedContainer, answer: AdminContainer | undefined): ListedContainer {
  if (!answer) return row
  const isStopped = answer.is_blocked && (row.status === 'running' || row.status === 'paused')
  return { ...row, ...answer, status: isStopped ? 'stopped' : row.status }
}
