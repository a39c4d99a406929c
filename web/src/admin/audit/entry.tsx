import { memo, useState, type ReactNode } from 'react'
import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { useTranslations } from 'use-intl/react'
import { useInstants } from '#/admin/use-instants.ts'
import { isKnownAction } from './actions.ts'
import { EntryDetails } from './entry-details.tsx'
import { containersIn, factsOf, subjectOf, type Subject } from './facts.ts'
import { useActorName } from './use-fact-text.ts'

interface EntryProps {
  entry: AuditEntry
  /** Addresses of users by id. */
  names: Readonly<Record<string, string>>
  /** Name of a container type. */
  typeName: (type: string) => string
}

/** One audit entry: a sentence that says who did what to whom, with the details on demand. */
export const Entry = memo(function Entry({ entry, names, typeName }: EntryProps) {
  const { time } = useInstants()
  const [isOpen, setOpen] = useState(false)
  const { reason } = factsOf(entry)
  return (
    <li className="entry">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time dateTime={entry.at}>{time(entry.at)}</time>{' '}
          <span className="entry-text">
            <Sentence entry={entry} subject={subjectOf(entry, names)} typeName={typeName} />{' '}
            {reason !== undefined && <span className="entry-reason">{reason}</span>}
          </span>
        </summary>
        {isOpen && <EntryDetails entry={entry} names={names} />}
      </details>
    </li>
  )
})

function Sentence({ entry, subject, typeName }: Omit<EntryProps, 'names'> & { subject: Subject }) {
  const t = useTranslations('admin.audit')
  const nameOf = useActorName()
  const { action, target, detail } = entry
  const b = (text: ReactNode) => <strong>{text}</strong>
  const actor = nameOf(entry)
  const person = subject.email ?? (subject.id === undefined ? target : t('person', { id: String(subject.id) }))
  if (!isKnownAction(action)) return t.rich('sentence.other', { actor, action, target, b })
  const container = () => {
    const number = String(subject.containerId ?? target)
    if (subject.type === undefined) return t.rich('containerNumber', { id: number, b })
    const type = typeName(subject.type)
    // Entries of shares name no owner: it is who acts, or is gone.
    const isOwnerKnown = subject.email !== undefined || subject.id !== undefined
    return isOwnerKnown ? t.rich('container', { type, person, b }) : t.rich('containerOfType', { type, id: number, b })
  }
  return t.rich(`sentence.${action}`, {
    actor,
    person,
    container,
    containers: containersIn(entry),
    group: t('groupNumber', { id: target.replace(/^group:/, '') }),
    purpose: String(detail.purpose),
    b,
  })
}
