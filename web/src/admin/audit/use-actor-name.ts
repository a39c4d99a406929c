import type { AuditEntry } from '@berth/api/schemas/audit.ts'
import { useTranslations } from 'use-intl/react'
import { operatorIn } from './facts.ts'

/** Names who did it: an address, or the operator. */
export function useActorName(): (entry: AuditEntry) => string {
  const t = useTranslations('admin.audit')
  return (entry) => {
    const account = operatorIn(entry)
    return account === undefined ? entry.actor.email : t('operator', { account })
  }
}
