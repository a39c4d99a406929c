import { useTranslations } from 'use-intl/react'
import { parseSupportContact } from '@berth/api/support-contact.ts'
import { boot } from '#/api/api-client.ts'
import { pages } from '#/paths.ts'
import { Link } from './link.tsx'

/** Whom to contact, in a sentence: the configured contact, else the reader's administrator. Who is one is led to the system page. */
export function AskForHelp() {
  const t = useTranslations('dashboard')
  if (boot.isAdmin) return <Link to={pages.adminSystem}>{t('askYourself')}</Link>
  return t.rich('ask', asking(t('administrator')))
}

const asking = (fallback: string) => ({ who: () => (boot.contact === null ? fallback : <ContactLink />) })

const link = boot.contact === null ? undefined : parseSupportContact(boot.contact).href
const isMail = link?.startsWith('mailto:') ?? false

/** Whether there is a link to who can help. */
export const canAskForHelp = link !== undefined || boot.isAdmin

/**
 * A link to the contact; nothing where there is none. An administrator is led to what they can find out themselves.
 * @param about subject of a mail
 */
export function AskForHelpButton({ about }: { about: string }) {
  const t = useTranslations('dashboard.failure')
  if (boot.isAdmin)
    return (
      <Link className="button primary" to={pages.adminSystem}>
        {t('system')}
      </Link>
    )
  if (link === undefined) return null
  return (
    <a className="button primary" href={isMail ? `${link}?subject=${encodeURIComponent(about)}` : link}>
      {isMail ? t('mail', { who: boot.contact ?? '' }) : t('web')}
    </a>
  )
}

/** The contact as the operator wrote it, as a link where possible. Nothing where none is configured. */
export function ContactLink() {
  if (boot.contact === null) return null
  const { text, href } = parseSupportContact(boot.contact)
  return href === undefined ? (
    text
  ) : (
    <a className="address" href={href}>
      {text}
    </a>
  )
}
