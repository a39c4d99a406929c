import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import { ContactLink } from '#/support-contact/ask-for-help.tsx'
import { LanguageSwitch } from '#/components/page/language-switch.tsx'

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
