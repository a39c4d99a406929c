import { createHash } from 'node:crypto'
import type { Language } from '@berth/api/boot.ts'
import type { SupportContact } from '@berth/api/support-contact.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { PageLook } from '#/port/gateway.ts'
import { localize } from './localize-plain.ts'

/**
 * The style of the front end, repeated: the gateway can run without it and imports nothing of it. Colours are those of
 * `web/src/styles/base.css`: every pair of text and ground has at least 4.5:1, every border that matters 3:1.
 *
 * The app's last lines stand in a column turned upside down, which is how a box begins scrolled to its end.
 */
const style = `
:root{color-scheme:light dark;--ground:#f3f6f7;--surface:#fff;--ink:#16232b;--quiet:#51626c;--line:#d6dfe3;--edge:#7b8c95;--accent:#0b5d73;--accent-strong:#084858;--on-accent:#fff;--idle-wash:#edf1f3;--busy-wash:#e0f0f4;--bad:#a32a22;--bad-wash:#fbe9e7;--shadow:0 1px 2px rgb(22 35 43/6%),0 2px 8px rgb(22 35 43/5%)}
@media (prefers-color-scheme:dark){:root{--ground:#10181d;--surface:#19242b;--ink:#e8eef1;--quiet:#a5b5be;--line:#2c3b44;--edge:#76899a;--accent:#7fcfe2;--accent-strong:#a5dfed;--on-accent:#0a2730;--idle-wash:#26343c;--busy-wash:#173541;--bad:#f5a69f;--bad-wash:#42221f;--shadow:none}}
*,::before,::after{box-sizing:border-box}
html{font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:var(--ink);background:var(--ground);text-size-adjust:100%}
body{margin:0;min-width:15rem}
h1,h2,p,pre,ol,ul{margin:0}
h1,h2{line-height:1.25;text-wrap:balance}
h1{font-size:1.5rem;letter-spacing:-.01em}
h1,p,li{overflow-wrap:anywhere}
h2{font-size:1.125rem}
ul{padding-left:1.25rem}
a{color:var(--accent);text-underline-offset:.18em}
a:hover{color:var(--accent-strong)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:8px}
header{display:flex;align-items:center;min-height:calc(3.5rem + 1px);padding:.35rem calc(max(0px,50vw - 33rem) + clamp(1rem,4vw,2rem));background:var(--surface);border-bottom:1px solid var(--line)}
.brand{display:inline-flex;align-items:center;gap:.6rem;font-size:1.125rem;font-weight:700;color:var(--ink);text-decoration:none}
.brand:hover{color:var(--accent)}
.brand img{object-fit:contain}
.notice{padding:.6rem clamp(1rem,4vw,2rem);text-align:center;background:var(--busy-wash);border-bottom:1px solid var(--edge);overflow-wrap:anywhere}
footer{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;justify-content:center;padding:0 1rem 2rem;font-size:.875rem}
main,.part{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem}
main{width:min(27rem,100vw - 2rem);margin:clamp(1rem,9vh,6rem) auto 2rem;padding:clamp(1.25rem,5vw,2.25rem);background:var(--surface);border:1px solid var(--line);border-radius:12px;box-shadow:var(--shadow)}
main:has(.lines){width:min(42rem,100vw - 2rem)}
.title{display:flex;flex-wrap:wrap;align-items:center;gap:.75rem}
.title h1{flex:1 8rem}
.sign{display:grid;flex:none;place-items:center;width:3rem;height:3rem;color:var(--accent);background:var(--busy-wash);border-radius:12px}
.bad .sign{color:var(--bad);background:var(--bad-wash)}
.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:.5rem 1.1rem;font-weight:600;text-decoration:none;color:var(--on-accent);background:var(--accent);border:1px solid var(--accent);border-radius:8px}
.button:hover{color:var(--on-accent);background:var(--accent-strong)}
.hint{color:var(--quiet);font-size:.875rem}
.lines{display:flex;flex-direction:column-reverse;max-height:18rem;overflow:auto;background:var(--idle-wash);border:1px solid var(--edge);border-radius:8px}
pre{padding:.75rem 1rem;font:.875rem/1.5 ui-monospace,'Cascadia Mono',Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
`

/**
 * Of a page that comes in pieces alone.
 *
 * Seconds are counted by an animation of a registered number, for there is no script. Browsers that cannot register one
 * would show a wrong number; they are recognized by their lack of relative colours, which came later or at the same time.
 * The clock of a step stops where it is when the next step follows (`:not(:last-child)` would stop all of them: while a
 * list is still being received, Chromium calls nothing its last child). It runs under reduced motion too: a number that
 * changes is news and no movement.
 */
export const progressStyle = `
.bar{height:.6rem;overflow:hidden;background:var(--idle-wash);border:1px solid var(--edge);border-radius:999px}
.bar::before{content:'';display:block;width:35%;height:100%;background:var(--accent);border-radius:inherit;animation:slide 1.8s ease-in-out infinite}
@keyframes slide{from{transform:translateX(-100%)}to{transform:translateX(290%)}}
.steps{display:grid;gap:.35rem;padding:0;list-style:none}
.steps li{position:relative;display:flex;gap:1rem;justify-content:space-between;padding-left:1.6rem;font-weight:600}
.steps li::before{position:absolute;top:.45em;left:.15rem;width:.7rem;height:.7rem;content:'';background:var(--accent);border-radius:50%;forced-color-adjust:none}
.steps li:has(+li){color:var(--quiet);font-weight:400}
.steps li:has(+li)::before{top:.3em;left:.3rem;width:.4rem;height:.75rem;background:none;border:solid currentcolor;border-width:0 2px 2px 0;border-radius:0;rotate:42deg;forced-color-adjust:auto}
.clock{flex:none;color:var(--quiet);font-weight:400;font-variant-numeric:tabular-nums}
@property --seconds{syntax:'<integer>';inherits:false;initial-value:0}
@keyframes count{to{--seconds:600}}
@supports (color:rgb(from red r g b)){.clock::after{counter-reset:seconds var(--seconds);content:counter(seconds) ' s';animation:count 600s steps(600) forwards}}
.steps li:has(+li) .clock::after{animation-play-state:paused}
.late{order:1}
main:has(.failed) .waiting{display:none}
.waiting:has(~.ready) .bar::before{width:100%;animation:none}
@media (prefers-reduced-motion:reduce){.bar::before{width:100%;animation:none;opacity:.6}}
@media (forced-colors:active){.bar::before,.steps li::before{forced-color-adjust:none;background:Highlight}.steps li:has(+li)::before{background:none}}
`

/** HTML that is safe to send: its parts were written here, or escaped. */
export interface Markup {
  readonly html: string
}

const styleHashes = `${hashOf(style)} ${hashOf(progressStyle)}`

/**
 * `Content-Security-Policy` of every page in this folder: nothing loads, nothing runs, no form is sent, and the
 * style blocks are named by their hashes. Frames are allowed to this origin, because people put one app's page into another's.
 */
export const pagePolicy = policyWith(`style-src ${styleHashes}`)

/** For a page that nothing may frame. */
export const unframedPolicy = unframed(pagePolicy)

/**
 * The policy of a page with the installation's look: its colours and its logo are allowed, too.
 * @param usual `pagePolicy` or `unframedPolicy`
 */
export function policyFor(look: PageLook | undefined, usual: string): string {
  if (!look || (look.css === '' && look.logoUrl === null)) return usual
  const styles = `style-src ${styleHashes}${look.css === '' ? '' : ` ${hashOf(look.css)}`}`
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

/** Everything in front of the content of `main`. @param further `progressStyle`, where the page needs it */
export function openDocument({ title, dashboardUrl, language, look }: PageFrame, further = ''): string {
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
<style>${style}</style>${further === '' ? '' : `<style>${further}</style>`}${colors}
</head>
<body>
<header><a class="brand" href="${escaped(dashboardUrl)}">${logoOf(look)}${name}</a></header>
${noticesOf(look, language)}<main>
`
}

/** Everything behind the content of `main`. */
export function closeDocument({ language, look }: Pick<PageFrame, 'language' | 'look'>): string {
  return `</main>
${footerOf(look, language)}</body>
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

/** Whom to ask for help, and the legal texts. */
function footerOf(look: PageLook | undefined, language: Language): string {
  const links = [
    [look?.imprintUrl ?? null, message('pages.imprint')],
    [look?.privacyUrl ?? null, message('pages.privacy')],
  ] as const
  const shown = links.flatMap(([url, text]) =>
    url === null ? [] : `<a href="${escaped(url)}">${escaped(localize(language, text))}</a>`,
  )
  if (look?.contact) shown.unshift(contactOf(look.contact, language))
  return shown.length === 0 ? '' : `<footer>${shown.join(' ')}</footer>\n`
}

function contactOf({ text, href }: SupportContact, language: Language): string {
  const who = href === undefined ? escaped(text) : `<a href="${escaped(href)}">${escaped(text)}</a>`
  return `<span>${escaped(localize(language, message('pages.help')))} ${who}</span>`
}

/**
 * The title of a page about a container, with the sign of its type.
 * @param sign as in `TypeRules` @param isBad something went wrong, or is forbidden
 */
export function containerTitle(title: string, sign: string | undefined, isBad = false): string {
  const drawn = sign === undefined ? '' : `<span class="sign">${signMarkup(sign)}</span>`
  return `<div class="title${isBad ? ' bad' : ''}">${drawn}<h1>${escaped(title)}</h1></div>`
}

const signMarkup = (path: string) =>
  `<svg viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${escaped(path)}"/></svg>`

/** The one thing to do on a page. @param href as it is, not yet escaped */
export function mainLink(href: string, text: string): string {
  return `<p><a class="button" href="${escaped(href)}">${escaped(text)}</a></p>`
}

/** The front end's mark. Written out, for the policy lets no picture load. */
const mark =
  '<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0b5d73"/><path d="M16 6v10M16 6l6.5 8.5H16" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/><path d="M7.5 18h17l-3 5.5h-11z" fill="#fff"/><path d="M6 26.5c1.7-1.3 3.3-1.3 5 0s3.3 1.3 5 0 3.3-1.3 5 0 3.3 1.3 5 0" fill="none" stroke="#8fd3e3" stroke-width="2" stroke-linecap="round"/></svg>'

/** Characters of one line that are shown. An app that writes no line ends must not fill the page. */
const maxLineLength = 1000

/** Colours and cursor movements of terminals (ECMA-48 control sequences, and operating system commands such as titles). */
const terminalCodes = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]/g // oxlint-disable-line no-control-regex

/** Control characters, and those that reverse the reading order: a line must read as it was written. */
const invisible = /[^\P{Cc}\t]|\p{Bidi_Control}/gu

/**
 * The last lines of an app, oldest first, in a region that scrolls, begins at its end and can be reached by keyboard.
 * Nothing when the app wrote nothing.
 */
export function logRegion(lines: readonly string[], language: Language): Markup {
  if (lines.length === 0) return { html: '' }
  return {
    html: `<h2 id="lines">${escaped(localize(language, message('pages.lastLines')))}</h2>
<div class="lines" role="region" aria-labelledby="lines" tabindex="0">
<pre translate="no" dir="auto">
${lines.map((line) => escaped(readable(line))).join('\n')}</pre>
</div>
`,
  }
}

function readable(line: string): string {
  const text = line.replace(terminalCodes, '').replace(invisible, '')
  return text.length > maxLineLength ? `${text.slice(0, maxLineLength)}…` : text
}
