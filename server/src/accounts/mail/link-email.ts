import type { Language } from '@berth/api/boot.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import type { Email } from './mailer.ts'

/** All of them text, which is escaped when it becomes HTML. */
export interface LinkEmailParts {
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
export function linkEmail(parts: LinkEmailParts): Email {
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
