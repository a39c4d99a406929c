import { useTranslations } from 'use-intl/react'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import { membersPath, useOwnGroups } from './use-own-groups.ts'

/** A line below the containers: the user's groups, and where a join code is entered. Not on the page while there is no group at all. */
export function OwnGroups() {
  const t = useTranslations('dashboard.groups')
  const { data = [] } = useOwnGroups()
  return (
    <nav aria-label={t('label')}>
      <ul className="dotted hint">
        {data.map(({ id, name, role }) => (
          <li key={id}>{role === 'manager' ? <Link to={membersPath(id)}>{name}</Link> : name}</li>
        ))}
        <li>
          <Link to={pages.groups}>{t('all')}</Link>
        </li>
      </ul>
    </nav>
  )
}
