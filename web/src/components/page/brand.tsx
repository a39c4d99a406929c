import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import iconUrl from '#/icon.svg'
import { pages } from '#/paths.ts'

/**
 * Name and logo, a link to the start page. The text names the link, so the logo has no alternative text. A real
 * navigation: the start page may have changed.
 */
export function Brand() {
  const t = useTranslations('frame')
  return (
    <a className="brand" href={pages.home}>
      <img src={boot.branding?.logo ?? iconUrl} alt="" width="28" height="28" />
      {t('product')}
    </a>
  )
}
