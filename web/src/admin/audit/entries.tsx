import { memo, useMemo, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AuditAction } from '@berth/api/audit-actions.ts'
import type { AuditEntry, AuditResponse } from '@berth/api/schemas/administration/audit.ts'
import { useInstants } from '#/admin/instants.tsx'
import { Link } from '#/components/link.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { addressOf } from './audit-filter.ts'
import { containersIn, factsOf, operatorIn, subjectOf, type Facts, type Subject } from './facts.ts'

const none = {}

/** Entries by day in the reader's time zone, newest first. */
export function Entries({ pages }: { pages: readonly AuditResponse[] }) {
  const t = useTranslations('admin.audit.list')
  const { day } = useInstants()
  const typeName = useTypeName()
  // Each entry with the names of its own page, which stay the same object: a further page must not render all entries
  // again.
  const days = useMemo(() => {
    const rows = pages.flatMap(({ entries, names = none }) => entries.map((entry) => ({ entry, names })))
    return Map.groupBy(rows, ({ entry }) => day(entry.at))
  }, [pages, day])
  return (
    <div role="region" aria-label={t('label')}>
      {[...days].map(([name, ofDay]) => (
        <section key={name} className="day" aria-label={name}>
          <h2>{name}</h2>
          <ol>
            {ofDay.map(({ entry, names }) => (
              <Entry key={entry.id} entry={entry} names={names} typeName={typeName} />
            ))}
          </ol>
        </section>
      ))}
    </div>
  )
}

interface EntryProps {
  entry: AuditEntry
  /** Addresses of users by id. */
  names: Readonly<Record<string, string>>
  /** Name of a container type. */
  typeName: (type: string) => string
  /** The day stands beside the time. */
  isDated?: boolean
}

/** One audit entry: a sentence that says who did what to whom, with the details on demand. */
export const Entry = memo(function Entry({ entry, names, typeName, isDated = false }: EntryProps) {
  const { time, full } = useInstants()
  const [isOpen, setOpen] = useState(false)
  const { reason } = factsOf(entry)
  return (
    <li className="entry">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time dateTime={entry.at}>{(isDated ? full : time)(entry.at)}</time>{' '}
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

function Sentence({ entry, subject, typeName }: Omit<EntryProps, 'names' | 'isDated'> & { subject: Subject }) {
  const t = useTranslations('admin.audit')
  const nameOf = useActorName()
  const { action, target, detail } = entry
  const b = (text: ReactNode) => <strong>{text}</strong>
  const actor = nameOf(entry)
  const person = subject.email ?? (subject.id === undefined ? target : t('person', { id: String(subject.id) }))
  const sentence = `sentence.${action as AuditAction}` as const
  // A newer server may log more.
  if (!t.has(sentence)) return t.rich('sentence.other', { actor, action, target, b })
  const container = () => {
    const number = String(subject.containerId ?? target)
    if (subject.type === undefined) return t.rich('containerNumber', { id: number, b })
    const type = typeName(subject.type)
    // Entries of shares name no owner: it is who acts, or is gone.
    const isOwnerKnown = subject.email !== undefined || subject.id !== undefined
    return isOwnerKnown ? t.rich('container', { type, person, b }) : t.rich('containerOfType', { type, id: number, b })
  }
  return t.rich(sentence, {
    actor,
    person,
    container,
    containers: containersIn(entry),
    group: t('groupNumber', { id: target.replace(/^group:/, '') }),
    environment: target.replace(/^environment:/, ''),
    purpose: String(detail.purpose),
    b,
  })
}

/** The further facts of an entry, and links to its user or container. */
function EntryDetails({ entry, names }: { entry: AuditEntry; names: Readonly<Record<string, string>> }) {
  const t = useTranslations('admin.audit.detail')
  const { full } = useInstants()
  const words = useFactText()
  const nameOf = useActorName()
  const { address, reason, changes, others } = factsOf(entry)
  const { email, containerId } = subjectOf(entry, names)
  const about = containerId === undefined && email !== undefined ? email : entry.target
  return (
    <div className="entry-details">
      <p className="hint">
        {t('number', { id: String(entry.id) })} · <time dateTime={entry.at}>{full(entry.at)}</time> ·{' '}
        <code>{entry.action}</code> · <code>{entry.target}</code>
      </p>
      <dl className="entry-facts">
        {address !== undefined && <Fact name={t('address')} value={address} />}
        {reason !== undefined && <Fact name={t('reason')} value={reason} />}
        {others.map(({ name, value }) => (
          <Fact key={name} name={words.name(name)} value={words.value(value, name)} />
        ))}
      </dl>
      {changes.length > 0 && <Changes changes={changes} />}
      <p className="entry-links">
        <Link to={addressOf({ actor: entry.actor.id === null ? entry.actor.email : String(entry.actor.id) })}>
          {t('sameActor', { actor: nameOf(entry) })}
        </Link>
        <Link to={addressOf({ target: entry.target })}>{t('sameTarget', { target: about })}</Link>
      </p>
    </div>
  )
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

function Changes({ changes }: Pick<Facts, 'changes'>) {
  const t = useTranslations('admin.audit.detail')
  const words = useFactText()
  return (
    <table className="changes">
      <caption className="visually-hidden">{t('changes')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('what')}</th>
          <th scope="col">{t('before')}</th>
          <th scope="col">{t('after')}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{words.name(name)}</th>
            <td>{words.value(before, name)}</td>
            <td>{words.value(after, name)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** An instant as the server writes it. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Facts whose values are ids of container types. */
const typeFacts: ReadonlySet<string> = new Set(['type', 'types', 'container_type'])

/** Names and values of facts as text; those without a translation stay as they are. */
function useFactText() {
  const t = useTranslations('admin.audit')
  const { full } = useInstants()

  const nameOf = useTypeName()
  const typeText = (type: string) => (nameOf(type) === type ? type : `${nameOf(type)} (${type})`)

  /**
   * @param name of the fact: container types are named, with their ids behind the names, by which the log is searched
   */
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
function useActorName(): (entry: AuditEntry) => string {
  const t = useTranslations('admin.audit')
  return (entry) => {
    const account = operatorIn(entry)
    return account === undefined ? entry.actor.email : t('operator', { account })
  }
}
