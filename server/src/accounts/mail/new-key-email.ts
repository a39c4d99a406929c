import type { Language } from '@berth/api/boot.ts'
import { localize } from '@berth/texts/localize.ts'
import { message } from '@berth/texts/localized-message.ts'
import { linkEmail, usualMailLook, type MailLook } from './link-email.ts'
import type { Email } from './mailer.ts'

export interface NewKeyEmailParts {
  /** The stored address. */
  readonly to: string
  readonly title: string
  readonly fingerprint: string
  /** Network address from which it was added. */
  readonly address: string
  readonly frontendUrl: string
  readonly language: Language
  readonly look: MailLook | undefined
}

/** The mail that tells of a new key of SSH, with a link to the page of one's keys. */
export function newKeyEmail(parts: NewKeyEmailParts): Email {
  const { to, title, fingerprint, address, frontendUrl, language, look = usualMailLook } = parts
  const said = (words: Parameters<typeof localize>[1]) => localize(language, words)
  return linkEmail({
    to,
    language,
    accent: look.accent,
    subject: said(message('ssh.mailSubject', { product: look.product })),
    intro: said(message('ssh.mailIntro', { title, fingerprint, address, product: look.product })),
    url: `${frontendUrl}/ssh-keys`,
    button: said(message('ssh.mailButton')),
    lasts: said(message('ssh.mailRemove')),
    why: said(message('ssh.mailWhy', { to, product: look.product })),
  })
}
