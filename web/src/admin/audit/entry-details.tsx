import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { useTranslations } from 'use-intl/react'
import { useInstants } from '#/admin/use-instants.ts'
import { Link } from '#/components/link.tsx'
import { addressOf } from './filter/audit-filter.ts'
import { factsOf, subjectOf, type Facts } from './facts.ts'
import { useActorName, useFactText } from './use-fact-text.ts'

/** The further facts of an entry, and links to its user or container. */
export function EntryDetails({ entry, names }: { entry: AuditEntry; names: Readonly<Record<string, string>> }) {
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
