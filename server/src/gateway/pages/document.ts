import type { Language } from '@berth/api/boot.ts'
import { createHash } from 'node:crypto'
import { style } from './style.ts'

/** HTML that is safe to send: its parts were written here, or escaped. */
export interface Markup {
  readonly html: string
}

/**
 * `Content-Security-Policy` of every page in this folder: nothing loads, nothing runs, no form is sent, and the one
 * style block is named by its hash. Frames are allowed to this origin, because people put one app's page into another's.
 */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** For a page that nothing may frame. */
export const unframedPolicy = pagePolicy.replace("frame-ancestors 'self'", "frame-ancestors 'none'")

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
}

/** A complete page. */
export function completeDocument(frame: PageFrame, content: Markup): string {
  return `${openDocument(frame)}${content.html}${closeDocument}`
}

/** Everything in front of the content of `main`. */
export function openDocument({ title, dashboardUrl, language }: PageFrame): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(title)} · Berth</title>
<style>${style}</style>
</head>
<body>
<header><a class="brand" href="${escaped(dashboardUrl)}">${mark}Berth</a></header>
<main>
`
}

/** Everything behind the content of `main`. */
export const closeDocument = `</main>
</body>
</html>
`

/** The one thing to do on a page. @param href as it is, not yet escaped */
export function mainLink(href: string, text: string): string {
  return `<p><a class="button" href="${escaped(href)}">${escaped(text)}</a></p>`
}

/** The front end's mark. Written out, for the policy lets no picture load. */
const mark =
  '<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0b5d73"/><path d="M16 6v10M16 6l6.5 8.5H16" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/><path d="M7.5 18h17l-3 5.5h-11z" fill="#fff"/><path d="M6 26.5c1.7-1.3 3.3-1.3 5 0s3.3 1.3 5 0 3.3-1.3 5 0 3.3 1.3 5 0" fill="none" stroke="#8fd3e3" stroke-width="2" stroke-linecap="round"/></svg>'
