import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { ContactLink } from '#/support-contact/ask-for-help.tsx'
import { LanguageSwitch } from '#/components/page/language-switch.tsx'

/** The footer of every page: support contact and language switch. */
export function Footer() {
  const t = useTranslations('frame')
  return (
    <footer className="bottom">
      <div className="bottom-inner">
        {boot.contact !== null && (
          <p>
            {t('help')} <ContactLink />
          </p>
        )}
        <LanguageSwitch />
      </div>
    </footer>
  )
}
