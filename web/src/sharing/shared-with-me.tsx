import { useTranslations } from 'use-intl/react'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import { sharedUrlOf, useSharedWithMe } from './use-shares.ts'

/** A line below the containers: those that others share with the user, and where the user shares one. */
export function SharedWithMe() {
  const t = useTranslations('dashboard.sharing')
  const { data = [] } = useSharedWithMe()
  return (
    <nav aria-label={t('label')}>
      <ul className="dotted hint">
        {data.map((shared) => (
          <li key={shared.id}>
            <a href={sharedUrlOf(shared)}>{t('of', { name: shared.display_name, owner: shared.owner })}</a>
          </li>
        ))}
        <li>
          <Link to={pages.sharing}>{t('all')}</Link>
        </li>
      </ul>
    </nav>
  )
}
