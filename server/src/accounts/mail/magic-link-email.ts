import type { Language } from '@berth/api/boot.ts'
import { list, message, type Value, type LocalizedMessage as Words } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import type { LinkPurpose } from '#/store/magic-links.ts'
import { linkEmail } from './link-email.ts'
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

/** As the buttons of the pages in the light theme (`--accent` in `web/src/styles/base.css`). */
export const usualMailLook: MailLook = { product: 'Berth', accent: '#0b5d73' }

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
