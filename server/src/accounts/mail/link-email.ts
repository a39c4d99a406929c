import type { Language } from '@berth/api/boot.ts'
import { localize } from '@berth/texts/localize.ts'
import { list, message, type LocalizedMessage as Words, type Value } from '@berth/texts/localized-message.ts'
import { pages } from '@berth/web/paths.ts'
import type { LinkPurpose } from '#/store/magic-links.ts'
import type { Email } from './mailer.ts'

/** Why a mail with a link is sent. None of it may come from a client unchecked: recipients trust the mail. */
export type Occasion = {
  /** Language of the requester. */
  readonly language: Language
  /** IP address of the requester; empty when unknown. */
  readonly address: string
} & (
  | {
      /** A mail address was entered, in this browser, as `ClientInfo` has it. */
      readonly kind: 'asked'
      readonly browser: string | null
    }
  | {
      /** An administrator sent it; `by` is their mail address or other name; null is the operator. */
      readonly kind: 'invited' | 'sent'
      readonly by: string | null
      /** Name of the group that the recipient is invited to. */
      readonly group?: string
    }
)

/** How the installation presents itself in mails. */
export interface MailLook {
  readonly product: string
  /** Colour of buttons, `#rrggbb`; white text is readable on it. */
  readonly accent: string
}

/** The colour is that of buttons of the pages in the light theme (`--accent` in `web/src/styles/base.css`). */
export const usualMailLook: MailLook = { product: 'Berth', accent: '#0b5d73' }

/** The branding of an installation, as far as mails have it. */
export interface MailBranding {
  readonly name: string | null
  readonly theme: { readonly accent: string } | null
}

/** How mails look with this branding; undefined without one. */
export function mailLookOf(branding: MailBranding | null): MailLook | undefined {
  if (branding === null) return undefined
  return { product: branding.name ?? usualMailLook.product, accent: branding.theme?.accent ?? usualMailLook.accent }
}

export interface MagicLinkEmailParts {
  /** The stored address; it appears in the text, so that a forwarded mail explains itself. */
  readonly to: string
  readonly purpose: LinkPurpose
  /** The front end's page, with the token. */
  readonly url: string
  /** Seconds until the link expires. */
  readonly expiry: number
  readonly occasion: Occasion
  readonly look?: MailLook
}

/** The mail that carries a link: its purpose, its lifetime, why it was sent, and who requested it. */
export function magicLinkEmail(parts: MagicLinkEmailParts): Email {
  const { to, purpose, url, expiry, occasion, look = usualMailLook } = parts
  const { language } = occasion
  const { product } = look
  const localized = (words: Words) => localize(language, words)
  // An invited user requested nothing: "finish signing up" would read like a mistake, or like a fraud.
  const about = occasion.kind === 'invited' ? occasion.kind : purpose
  const group = groupOf(occasion)
  const subject = localized(
    group === undefined
      ? message(`mails.${about}Subject`, { product })
      : message('groups.invitedSubject', { group, product }),
  )
  const intro = localized(introFor(about, occasion, product))
  const lasts = localized(message('mails.lasts', { duration: duration(expiry) }))
  const why = localized(reasonFor(to, occasion, product))
  const button = localized(message(`mails.${about}Button`))
  return linkEmail({ to, language, accent: look.accent, subject, intro, url, button, lasts, why })
}

const groupOf = (occasion: Occasion) => (occasion.kind === 'asked' ? undefined : occasion.group)

function introFor(about: LinkPurpose | 'invited', occasion: Occasion, product: string): Words {
  if (about !== 'invited') return message(`mails.${about}Intro`, { product })
  const [by, group] = [senderOf(occasion, product), groupOf(occasion)]
  return group === undefined
    ? message('mails.invitedIntro', { by, product })
    : message('groups.invitedIntro', { by, group, product })
}

function reasonFor(to: string, occasion: Occasion, product: string): Words {
  if (occasion.kind === 'asked') return message('mails.asked', { to, product, whence: describeClient(occasion) })
  const by = senderOf(occasion, product)
  if (occasion.group !== undefined) return message('groups.invited', { to, by, group: occasion.group, product })
  return occasion.kind === 'invited' ? message('mails.invited', { to, by, product }) : message('mails.sent', { to, by })
}

/** The administrator who had the mail sent, or the operator. Mails that users requested do not show it. */
const senderOf = (occasion: Occasion, product: string): Value =>
  (occasion.kind === 'asked' ? null : occasion.by) ?? message('mails.operator', { product })

/** Unknown parts are left out. The zone of an address (`fe80::1%eth0`) is free text, and tells recipients nothing. */
function describeClient({ address, browser }: { address: string; browser: string | null }): Value {
  const [plain = ''] = address.split('%')
  return list('nothing', [
    ...(browser === null ? [] : [message('mails.withBrowser', { browser: browserInWords(browser) })]),
    ...(plain === '' ? [] : [message('mails.fromAddress', { address: plain })]),
  ])
}

/** @param text in English, as it is stored with a session: `Firefox on Windows`, or a browser alone */
function browserInWords(text: string): Value {
  const [browser = '', system] = text.split(' on ')
  return system === undefined ? text : message('mails.browserOnSystem', { browser, system })
}

function duration(seconds: number): Words {
  if (seconds % 86_400 === 0) return message('mails.days', { count: seconds / 86_400 })
  if (seconds % 3600 === 0) return message('mails.hours', { count: seconds / 3600 })
  if (seconds % 60 === 0) return message('mails.minutes', { count: seconds / 60 })
  return message('mails.seconds', { count: seconds })
}

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
  const said = (words: Words) => localize(language, words)
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
  const said = (words: Words) => localize(language, words)
  return linkEmail({
    to,
    language,
    accent: look.accent,
    subject: said(message('ssh.mailSubject', { product: look.product })),
    intro: said(message('ssh.mailIntro', { title, fingerprint, address, product: look.product })),
    url: `${frontendUrl}${pages.sshKeys}`,
    button: said(message('ssh.mailButton')),
    lasts: said(message('ssh.mailRemove')),
    why: said(message('ssh.mailWhy', { to, product: look.product })),
  })
}

/** All of them text, which is escaped when it becomes HTML. */
interface LinkEmailParts {
  /** The stored address. */
  readonly to: string
  readonly language: Language
  readonly accent: string
  readonly subject: string
  readonly intro: string
  readonly url: string
  readonly button: string
  readonly lasts: string
  readonly why: string
}

/** A mail with one link, as a button and as text. */
function linkEmail(parts: LinkEmailParts): Email {
  const { to, subject, intro, url, lasts, why } = parts
  return { to, subject, text: `${intro}\n\n${url}\n\n${lasts}\n\n${why}\n`, html: htmlOf(parts) }
}

function htmlOf({ language, accent, subject, intro, url, button, lasts, why }: LinkEmailParts): string {
  const copy = localize(language, message('mails.copy'))
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escape(subject)}</title></head>
<body style="font-family: system-ui, sans-serif; line-height: 1.5; max-width: 34rem; margin: 2rem auto; padding: 0 1rem">
<p>${escape(intro)}</p>
<p><a href="${escape(url)}" style="display: inline-block; padding: .6rem 1.2rem; border-radius: 8px; background: ${accent}; color: #fff; text-decoration: none">${escape(button)}</a></p>
<p>${escape(copy)}<br><a href="${escape(url)}">${escape(url)}</a></p>
<p>${escape(lasts)}</p>
<p style="color: #777">${escape(why)}</p>
</body>
</html>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
