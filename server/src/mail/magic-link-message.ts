import type { LinkPurpose } from '#/store/magic-links.ts'
import type { Message } from './mailer.ts'

/** Why somebody gets a mail with a link. None of it may be what a client made up: it is read by people who trust us. */
export type Occasion =
  /** Somebody typed their mail address: from this IP address, with this browser, as `Requester` has them. */
  | { readonly kind: 'asked'; readonly address: string; readonly browser: string | null }
  /** An administrator sent it; `by` is their mail address, or words for an operator, who has none. */
  | { readonly kind: 'invited' | 'sent'; readonly address: string; readonly by: string }

export interface LinkMail {
  /** The stored address; it appears in the text, so that a forwarded mail explains itself. */
  readonly to: string
  readonly purpose: LinkPurpose
  /** The front end's page, with the token. */
  readonly url: string
  /** Seconds until the link is void. */
  readonly expiry: number
  readonly occasion: Occasion
}

const words = {
  signup: {
    subject: 'Finish signing up to Berth',
    intro: 'Welcome to Berth. Open this link to finish signing up:',
    button: 'Finish signing up',
  },
  login: {
    subject: 'Sign in to Berth',
    intro: 'Open this link to sign in to Berth:',
    button: 'Sign in',
  },
} as const satisfies Record<LinkPurpose, object>

/** The mail that carries a link: what for, for how long, why it was sent, and who asked for it. */
export function magicLinkMessage({ to, purpose, url, expiry, occasion }: LinkMail): Message {
  const { subject, intro, button } = words[purpose]
  const lasts = `The link works once, within ${duration(expiry)}.`
  const why = reasonFor(to, occasion)
  return {
    to,
    subject,
    text: `${intro}\n\n${url}\n\n${lasts}\n\n${why}\n`,
    html: htmlPage(subject, intro, url, button, lasts, why),
  }
}

function reasonFor(to: string, occasion: Occasion): string {
  const ifNot = 'without the link nothing happens.'
  if (occasion.kind === 'asked') {
    const why = `You get this mail because somebody, probably you, typed ${to} at Berth${whence(occasion)}.`
    return `${why} If it was not you, do nothing: ${ifNot}`
  }
  const deed = occasion.kind === 'invited' ? `invited ${to} to Berth` : `had this link sent to ${to}`
  return `You get this mail because ${occasion.by} ${deed}. If you do not know why, do nothing: ${ifNot}`
}

/** What is not known is left out. The zone of an address (`fe80::1%eth0`) is free text, and says nothing to others. */
function whence({ address, browser }: { address: string; browser: string | null }): string {
  const [plain] = address.split('%')
  return (browser ? `, with ${browser}` : '') + (plain ? `, from the address ${plain}` : '')
}

function htmlPage(subject: string, intro: string, url: string, button: string, lasts: string, why: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escape(subject)}</title></head>
<body style="font-family: system-ui, sans-serif; line-height: 1.5; max-width: 34rem; margin: 2rem auto; padding: 0 1rem">
<p>${escape(intro)}</p>
<p><a href="${escape(url)}" style="display: inline-block; padding: .6rem 1.2rem; border-radius: .4rem; background: #14532d; color: #fff; text-decoration: none">${escape(button)}</a></p>
<p>Or copy this address into your browser:<br><a href="${escape(url)}">${escape(url)}</a></p>
<p>${escape(lasts)}</p>
<p style="color: #777">${escape(why)}</p>
</body>
</html>
`
}

function duration(seconds: number): string {
  const count = (value: number, unit: string) => `${value} ${unit}${value === 1 ? '' : 's'}`
  if (seconds % 86_400 === 0) return count(seconds / 86_400, 'day')
  if (seconds % 3600 === 0) return count(seconds / 3600, 'hour')
  if (seconds % 60 === 0) return count(seconds / 60, 'minute')
  return count(seconds, 'second')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
