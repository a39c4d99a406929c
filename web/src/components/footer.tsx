import { useTranslations } from 'use-intl/react'
import { boot } from '#/api.ts'
import { Contact } from '#/components/contact.tsx'
import { LanguageSwitch } from '#/components/language-switch.tsx'

/** Under every page: whom to ask, and in which language one reads. */
export function Footer() {
  const t = useTranslations('frame')
  return (
    <footer className="bottom">
      <div className="bottom-inner">
        {boot.contact !== null && (
          <p>
            {t('help')} <Contact />
          </p>
        )}
        <LanguageSwitch />
      </div>
    </footer>
  )
}
