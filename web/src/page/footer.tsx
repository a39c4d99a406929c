import { useTranslations } from 'use-intl/react'
import { languages } from '@berth/api/boot.ts'
import { boot } from '#/api/api-client.ts'
import { ContactLink } from '#/components/ask-for-help.tsx'
import { Link } from '#/components/link.tsx'
import { chooseLanguage, useLanguage } from '#/i18n/i18n-provider.tsx'
import { pages } from '#/paths.ts'

/** The footer of every page: support contact, legal texts and language switch. */
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
        <LegalLinks />
        <LanguageSwitch />
      </div>
    </footer>
  )
}

/** Imprint and privacy notice, where the operator has them: on pages of ours, or elsewhere. */
function LegalLinks() {
  const t = useTranslations('frame')
  const { imprint = null, privacy = null } = boot.branding ?? {}
  if (imprint === null && privacy === null) return null
  return (
    <ul className="legal-links">
      {imprint !== null && (
        <li>
          <LegalLink to={imprint} text={t('imprint')} />
        </li>
      )}
      {privacy !== null && (
        <li>
          <LegalLink to={privacy} text={t('privacy')} />
        </li>
      )}
    </ul>
  )
}

function LegalLink({ to, text }: { to: string; text: string }) {
  return to === pages.imprint || to === pages.privacy ? <Link to={to}>{text}</Link> : <a href={to}>{text}</a>
}

/** Each language is named in its own words. */
function LanguageSwitch() {
  const t = useTranslations('frame.language')
  const current = useLanguage()
  return (
    <div className="languages" role="group" aria-label={t('label')}>
      {languages.map((language) => (
        <button
          key={language}
          type="button"
          lang={language}
          aria-pressed={language === current}
          // Without its file the page stays as it is, and says itself that Berth cannot be reached.
          onClick={() => void chooseLanguage(language).catch(() => undefined)}
        >
          {t(language)}
        </button>
      ))}
    </div>
  )
}
