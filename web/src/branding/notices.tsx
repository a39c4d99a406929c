import type { BrandingData } from '@berth/api/boot.ts'
import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { useLanguage } from '#/i18n/language.ts'
import { useServerNow } from '#/time/use-now.ts'
import { currentNotices } from './branding.ts'

/** How often the time of the notices is looked at, in ms. */
const interval = 30_000

/** The operator's notices, below the header of every page. */
export function Notices() {
  const { branding } = boot
  return branding === null || branding.notices.length === 0 ? null : <CurrentNotices branding={branding} />
}

function CurrentNotices({ branding }: { branding: BrandingData }) {
  const t = useTranslations('frame')
  const language = useLanguage()
  const notices = currentNotices(branding, useServerNow(interval))
  if (notices.length === 0) return null
  return (
    <section aria-label={t('notices')}>
      {notices.map(({ text }) => (
        <p className="notice" key={text[language]}>
          {text[language]}
        </p>
      ))}
    </section>
  )
}
