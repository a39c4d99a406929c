import { useTranslations } from 'use-intl/react'
import { useInstants } from '#/admin/use-instants.ts'
import { useTypeName } from '#/components/type-name.tsx'
import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { operatorIn } from './facts.ts'

/** An instant as the server writes it. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Facts whose values are ids of container types. */
const typeFacts: ReadonlySet<string> = new Set(['type', 'types', 'container_type'])

/** Names and values of facts as text; those without a translation stay as they are. */
export function useFactText() {
  const t = useTranslations('admin.audit')
  const { full } = useInstants()

  const nameOf = useTypeName()
  const typeText = (type: string) => (nameOf(type) === type ? type : `${nameOf(type)} (${type})`)

  /** @param name of the fact: container types are named, with their ids behind the names, by which the log is searched */
  function value(given: unknown, name: string): string {
    if (given === null || given === undefined || given === '') return t('detail.nothing')
    if (typeof given === 'boolean') return t(given ? 'detail.yes' : 'detail.no')
    if (typeof given === 'string' && typeFacts.has(name)) return typeText(given)
    if (typeof given === 'string') return instant.test(given) ? full(given) : given
    if (Array.isArray(given))
      return given.length === 0 ? t('detail.nothing') : given.map((each) => value(each, name)).join(', ')
    return JSON.stringify(given)
  }
  return {
    name: (name: string) => (t.has(`fact.${name}` as 'fact.kid') ? t(`fact.${name}` as 'fact.kid') : name),
    value,
  }
}

/** Names the actor: an address, or the operator. */
export function useActorName(): (entry: AuditEntry) => string {
  const t = useTranslations('admin.audit')
  return (entry) => {
    const account = operatorIn(entry)
    return account === undefined ? entry.actor.email : t('operator', { account })
  }
}
