import { useTranslations } from 'use-intl/react'
import { boot } from '#/api.ts'
import { Contact } from '#/components/contact.tsx'
import { contactOf } from '#/contact.ts'

/** Whom to ask, in a sentence: who the operator says, else the reader's administrator. */
export function Ask() {
  const t = useTranslations('dashboard')
  return t.rich('ask', asking(t('administrator')))
}

const asking = (somebody: string) => ({ who: () => (boot.contact === null ? somebody : <Contact />) })

const link = boot.contact === null ? undefined : contactOf(boot.contact).href
const isMail = link?.startsWith('mailto:') ?? false

/** Whether there is a way to them that can be pressed. */
export const canBeAsked = link !== undefined

/** The way to who can help; nothing where there is none. @param about what a mail is about */
export function AskButton({ about }: { about: string }) {
  const t = useTranslations('dashboard.failure')
  if (link === undefined) return null
  return (
    <a className="button primary" href={isMail ? `${link}?subject=${encodeURIComponent(about)}` : link}>
      {isMail ? t('mail', { who: boot.contact ?? '' }) : t('web')}
    </a>
  )
}
