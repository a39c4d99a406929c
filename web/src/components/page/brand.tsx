import { useTranslations } from 'use-intl/react'
import iconUrl from '#/icon.svg'
import { pages } from '#/paths.ts'

/** Name and mark, leading home. The text names the link, so the picture is silent. A plain link: home may look different by now. */
export function Brand() {
  const t = useTranslations('frame')
  return (
    <a className="brand" href={pages.home}>
      <img src={iconUrl} alt="" width="28" height="28" />
      {t('product')}
    </a>
  )
}
