import { useMessages } from 'use-intl/react'
import type { AuditAction } from '@berth/api/audit-actions.ts'
import type { ActionGroup } from '#/admin/messages/audit-actions.ts'

/** Actions of one subject, in the order of the filter. */
export interface SubjectActions {
  readonly group: ActionGroup
  readonly actions: readonly AuditAction[]
}

/**
 * Every action that the catalogue has words for, by subject. They are read from the catalogue, because a build parses
 * its modules and leaves nothing else of them. A newer server may log more.
 */
export function useActions(): readonly SubjectActions[] {
  const { action } = useMessages().admin.audit
  return Object.entries(action).map(([group, words]) => ({
    group: group as ActionGroup,
    actions: Object.keys(words).map((name) => `${group}.${name}` as AuditAction),
  }))
}
