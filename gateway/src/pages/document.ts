import type { Language } from '@berth/api/boot.ts'
import { createHash } from 'node:crypto'
import type { PageLook } from '#/port/gateway-settings.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localize } from './localize-plain.ts'
import { style } from './style.ts'

/** HTML that is safe to send: its parts were written here, or escaped. */
export interface Markup {
  readonly html: string
}

const styleHash = hashOf(style)

/**
 * `Content-Security-Policy` of every page in this folder: nothing loads, nothing runs, no form is sent, and the one
 * style block is named by its hash. Frames are allowed to this origin, because people put one app's page into another's.
 */
export const pagePolicy = policyWith(`style-src ${styleHash}`)

/** For a page that nothing may frame. */
export const unframedPolicy = unframed(pagePolicy)

/**
 * The policy of a page with the installation's look: its colours and its logo are allowed, too.
 * @param usual `pagePolicy` or `unframedPolicy`
 */
export function policyFor(look: PageLook | undefined, usual: string): string {
  if (!look || (look.css === '' && look.logoUrl === null)) return usual
  const styles = `style-src ${styleHash}${look.css === '' ? '' : ` ${hashOf(look.css)}`}`
  const images = look.logoUrl === null ? '' : `; img-src ${new URL(look.logoUrl).origin}`
  const policy = policyWith(styles + images)
  return usual === unframedPolicy ? unframed(policy) : policy
}

function policyWith(sources: string): string {
  return ["default-src 'none'", sources, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"].join('; ')
}

function unframed(policy: string): string {
  return policy.replace("frame-ancestors 'self'", "frame-ancestors 'none'")
}

function hashOf(css: string): string {
  return `'sha256-${createHash('sha256').update(css).digest('base64')}'`
}

/** The address that the page itself was asked at. Without a fragment, so that following it always asks again. */
export const reloadHref = ''

/** Text as HTML, for elements and for attributes in double quotes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** What stands around the content of a page. */
export interface PageFrame {
  /** Text, shown in the tab. */
  readonly title: string
  readonly dashboardUrl: string
  readonly language: Language
  /** Undefined: Berth's own. */
  readonly look?: PageLook | undefined
}

/** A complete page. */
export function completeDocument(frame: PageFrame, content: Markup): string {
  return `${openDocument(frame)}${content.html}${closeDocument(frame)}`
}

/** Everything in front of the content of `main`. */
export function openDocument({ title, dashboardUrl, language, look }: PageFrame): string {
  const name = escaped(look?.name ?? 'Berth')
  const colors = look && look.css !== '' ? `\n<style>${look.css}</style>` : ''
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(title)} · ${name}</title>
<style>${style}</style>${colors}
</head>
<body>
<header><a class="brand" href="${escaped(dashboardUrl)}">${logoOf(look)}${name}</a></header>
${noticesOf(look, language)}<main>
`
}

/** Everything behind the content of `main`. */
export function closeDocument({ language, look }: Pick<PageFrame, 'language' | 'look'>): string {
  return `</main>
${legalLinksOf(look, language)}</body>
</html>
`
}

function logoOf(look: PageLook | undefined): string {
  const url = look?.logoUrl ?? null
  return url === null ? mark : `<img src="${escaped(url)}" alt="" width="28" height="28">`
}

/** Notices whose time it is. */
function noticesOf(look: PageLook | undefined, language: Language): string {
  const now = Date.now()
  const current = (look?.notices ?? []).filter(
    ({ from, until }) => (from === null || Date.parse(from) <= now) && (until === null || Date.parse(until) > now),
  )
  return current.map(({ text }) => `<p class="notice">${escaped(text[language])}</p>\n`).join('')
}

function legalLinksOf(look: PageLook | undefined, language: Language): string {
  const links = [
    [look?.imprintUrl ?? null, message('pages.imprint')],
    [look?.privacyUrl ?? null, message('pages.privacy')],
  ] as const
  const shown = links.flatMap(([url, text]) =>
    url === null ? [] : `<a href="${escaped(url)}">${escaped(localize(language, text))}</a>`,
  )
  return shown.length === 0 ? '' : `<footer>${shown.join(' ')}</footer>\n`
}

/** The one thing to do on a page. @param href as it is, not yet escaped */
export function mainLink(href: string, text: string): string {
  return `<p><a class="button" href="${escaped(href)}">${escaped(text)}</a></p>`
}

/** The front end's mark. Written out, for the policy lets no picture load. */
const mark =
  '<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0b5d73"/><path d="M16 6v10M16 6l6.5 8.5H16" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/><path d="M7.5 18h17l-3 5.5h-11z" fill="#fff"/><path d="M6 26.5c1.7-1.3 3.3-1.3 5 0s3.3 1.3 5 0 3.3-1.3 5 0 3.3 1.3 5 0" fill="none" stroke="#8fd3e3" stroke-width="2" stroke-linecap="round"/></svg>'
