import type { Language } from '@berth/api/boot.ts'

/** All of them text, which is escaped when it becomes HTML. */
export interface LinkPageParts {
  readonly language: Language
  readonly accent: string
  readonly subject: string
  readonly intro: string
  readonly url: string
  readonly button: string
  readonly copy: string
  readonly lasts: string
  readonly why: string
}

/** The HTML of a mail with one link, as a button and as text. */
export function linkPage({ language, accent, subject, intro, url, button, copy, lasts, why }: LinkPageParts): string {
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
