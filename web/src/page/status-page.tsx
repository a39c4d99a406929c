import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { pages } from '#/paths.ts'
import { useMe } from '#/session/use-me.ts'
import { Page } from './page.tsx'

/**
 * A page that says why there is no content, and leads to the start page. A real navigation: the start page may have
 * changed.
 */
function StatusPage({ why }: { why: 'notFound' | 'forbidden' }) {
  const t = useTranslations(`frame.${why}`)
  return (
    <Page title={t('title')} width="narrow">
      <p>{t('what')}</p>
      <p>{t('todo')}</p>
      <p className="actions">
        <a className="button primary" href={pages.home}>
          {t('button')}
        </a>
      </p>
    </Page>
  )
}

interface SwitchedOffProps {
  /** The feature, as the key of its texts. */
  of: 'environments' | 'sharing' | 'snapshots'
}

/** The page of a feature that this installation does not have. */
export function SwitchedOff({ of }: SwitchedOffProps) {
  const t = useTranslations(of)
  return (
    <Page title={t('title')}>
      <p>{t('off')}</p>
    </Page>
  )
}

/** For every path that is not in the list. */
export const NotFound = () => <StatusPage why="notFound" />

/**
 * Shows its content to administrators. The boot data counts until the API has answered: the role may have changed
 * since. The API refuses every other user, whatever is shown.
 */
export function ForAdministrators({ children }: { children: ReactNode }) {
  const isAdmin = useMe()?.is_admin ?? (boot.isAdmin || undefined)
  if (isAdmin === undefined) return null
  return isAdmin ? children : <StatusPage why="forbidden" />
}
