import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { parseSupportContact } from '#/support-contact/support-contact.ts'

/** Whom to ask, in a sentence: who the operator says, else the reader's administrator. */
export function AskForHelp() {
  const t = useTranslations('dashboard')
  return t.rich('ask', asking(t('administrator')))
}

const asking = (somebody: string) => ({ who: () => (boot.contact === null ? somebody : <ContactLink />) })

const link = boot.contact === null ? undefined : parseSupportContact(boot.contact).href
const isMail = link?.startsWith('mailto:') ?? false

/** Whether there is a way to them that can be pressed. */
export const canAskForHelp = link !== undefined

/** The way to who can help; nothing where there is none. @param about what a mail is about */
export function AskForHelpButton({ about }: { about: string }) {
  const t = useTranslations('dashboard.failure')
  if (link === undefined) return null
  return (
    <a className="button primary" href={isMail ? `${link}?subject=${encodeURIComponent(about)}` : link}>
      {isMail ? t('mail', { who: boot.contact ?? '' }) : t('web')}
    </a>
  )
}

/** Whom to ask, as the operator wrote it: pressed where it can be. Nothing where the operator says nothing. */
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
