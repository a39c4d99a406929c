import { useTranslations } from 'use-intl/react'
import { Page } from '#/components/page/page.tsx'
import { pages } from '#/paths.ts'

/**
 * A page that says why there is no content, and leads to the start page. A real navigation: the start page may have
 * changed.
 */
export function StatusPage({ why }: { why: 'notFound' | 'forbidden' }) {
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
