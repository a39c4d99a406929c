import type { Language } from '@berth/api/boot.ts'
import { localize } from '@berth/texts/localize.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { linkEmail } from './link-email.ts'
import { usualMailLook, type MailLook } from './magic-link-email.ts'
import type { Email } from './mailer.ts'

export interface ArchiveEmailParts {
  /** The stored address. */
  readonly to: string
  readonly group: string
  /** The page of the download, with the token. */
  readonly url: string
  readonly keepUntil: Date
  /** Null: the account stays. */
  readonly removesAccountAt: Date | null
  readonly language: Language
  readonly look: MailLook | undefined
}

/** The mail with the link to archives of homes, at the end of a term. */
export function archiveEmail(parts: ArchiveEmailParts): Email {
  const { to, group, url, keepUntil, removesAccountAt, language, look = usualMailLook } = parts
  const { product } = look
  const said = (words: LocalizedMessage) => localize(language, words)
  const subject = said(message('termEnd.mailSubject', { group }))
  const intro = said(message('termEnd.mailIntro', { group, product }))
  const lasts = said(message('termEnd.mailUntil', { date: dayOf(keepUntil) }))
  const account =
    removesAccountAt === null ? '' : ` ${said(message('termEnd.mailAccount', { to, date: dayOf(removesAccountAt) }))}`
  const why = said(message('termEnd.mailWhy', { to, group, product }))
  const button = said(message('termEnd.mailButton'))
  return linkEmail({ to, language, accent: look.accent, subject, intro, url, button, lasts: lasts + account, why })
}

/** Read in any time zone and language. */
const dayOf = (at: Date) => at.toISOString().slice(0, 10)
