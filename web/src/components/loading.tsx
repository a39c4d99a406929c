import { useTranslations } from 'use-intl/react'

/** While a part of the front end is being loaded; seen only when that takes long. */
export function Loading() {
  const t = useTranslations('frame')
  return (
    <p role="status" className="loading">
      {t('loading')}
    </p>
  )
}
