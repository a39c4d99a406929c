import { useTranslations } from 'use-intl/react'

/** Shown while a chunk loads; visible only when that takes long. */
export function Loading() {
  const t = useTranslations('frame')
  return (
    <p role="status" className="loading">
      {t('loading')}
    </p>
  )
}
