import type { LinkPurpose } from '#/store/magic-links.ts'
import type { Message } from './mailer.ts'

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

/**
 * The mail that carries a link.
 * @param to     the stored address; it appears in the text, so that a forwarded mail explains itself
 * @param url    the front end's page, with the token
 * @param expiry seconds until the link is void
 */
export function magicLinkMessage(to: string, purpose: LinkPurpose, url: string, expiry: number): Message {
  const { subject, intro, button } = words[purpose]
  const lasts = `The link works once, within ${duration(expiry)}.`
  const why = `You get this mail because somebody, probably you, typed ${to} at Berth. If it was not you, do nothing: without the link nothing happens.`
  return {
    to,
    subject,
    text: `${intro}\n\n${url}\n\n${lasts}\n\n${why}\n`,
    html: htmlPage(subject, intro, url, button, lasts, why),
  }
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
  if (seconds % 3600 === 0) return count(seconds / 3600, 'hour')
  if (seconds % 60 === 0) return count(seconds / 60, 'minute')
  return count(seconds, 'second')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
