import type { Language } from '@berth/api/boot.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { PageLook } from '#/port/gateway.ts'
import {
  closeDocument,
  containerTitle,
  escaped,
  mainLink,
  openDocument,
  progressStyle,
  reloadHref,
  type Markup,
} from './document.ts'
import { localize } from './localize-plain.ts'

/**
 * A page that is sent in pieces while a container starts: `progressHead`, any number of `progressStep`, then
 * `progressReady` or `progressFailed`. The connection stays open in between, and a browser shows each piece when it comes, without a script.
 * Send it with status 503, `Retry-After`, `Cache-Control: no-store`, `X-Content-Type-Options: nosniff` (a browser that
 * guesses the type waits for more) and `pagePolicy`.
 *
 * Nothing reloads on a timer. A timer at the top would start only when the document is complete, and would then take
 * away the reason of a failure under its reader's eyes. Where the connection breaks, the link "Try again" is there.
 */
export function progressHead({ displayName: name, sign, usualSeconds, ...frame }: ProgressView): string {
  const { dashboardUrl, language } = frame
  const localized = (text: LocalizedMessage) => escaped(localize(language, text))
  const starting = localize(language, message('pages.startingName', { name }))
  return `${openDocument({ title: name, ...frame }, progressStyle)}<div class="waiting part">
${containerTitle(starting, sign)}
<p>${localized(message('pages.startingText', { name }))}${usuallyTakes(usualSeconds, language)}</p>
<div class="bar" role="progressbar" aria-label="${escaped(starting)}"></div>
<p class="hint late">${localized(message('pages.nothingNew'))} <a href="${reloadHref}">${localized(message('pages.tryAgain'))}</a> · <a href="${escaped(dashboardUrl)}">${localized(message('pages.openDashboard'))}</a></p>
<div role="log" aria-label="${localized(message('pages.steps'))}">
<ol class="steps">
`
}

export interface ProgressView {
  readonly displayName: string
  /** As in `TypeRules`. */
  readonly sign?: string | undefined
  /** How long it usually takes here; left out where too few starts were seen. */
  readonly usualSeconds?: number | undefined
  readonly dashboardUrl: string
  readonly language: Language
  readonly look?: PageLook | undefined
}

/** A sentence, behind another one; nothing where it is not known. */
export function usuallyTakes(seconds: number | undefined, language: Language): string {
  return seconds === undefined ? '' : ` ${escaped(localize(language, message('pages.usuallyTakes', { seconds })))}`
}

/** What the end of a page needs of its view. */
type PageEnd = Pick<ProgressView, 'language' | 'look'>

/** What happens from now on, with a clock that runs until the next step follows. @param step a few words */
export function progressStep(step: LocalizedMessage, language: Language): string {
  return `<li><span>${escaped(localize(language, step))}</span> <span class="clock" aria-hidden="true"></span></li>\n`
}

/**
 * The last piece when the app answers: the browser asks again by itself. It asks for the target by name, because a page
 * with a fragment (`#/notes`) that refreshes to its very own address only scrolls. The fragment itself is lost: the
 * server never sees it, and there is no script that could.
 * @param target path and query of the request, as they came
 */
export function progressReady(target: string, { language, look }: PageEnd): string {
  const href = isPath(target) ? target : reloadHref
  return `<li>${escaped(localize(language, message('pages.answers')))}</li>
</ol>
</div>
</div>
<div class="ready part">
<meta http-equiv="refresh" content="0${href === reloadHref ? '' : `; url=${escaped(href)}`}">
${mainLink(href, localize(language, message('pages.goOn')))}
</div>
${closeDocument({ language, look })}`
}

/** The last piece when it does not: why not (`unavailableBody`), in place of the progress. */
export function progressFailed(reason: Markup, end: PageEnd): string {
  return `</ol>
</div>
</div>
<div class="failed part" role="alert">
${reason.html}</div>
${closeDocument(end)}`
}

/** Of this host: two slashes, or a backslash for one of them, would lead to another. */
const isPath = (target: string) => /^\/(?![/\\])[^\s\\]*$/.test(target)
