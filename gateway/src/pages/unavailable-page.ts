import type { Language } from '@berth/api/boot.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Unavailable, Explanation } from '#/port/gateway-state.ts'
import type { PageLook } from '#/port/gateway-settings.ts'
import { localize } from './localize-plain.ts'
import {
  unavailableMessages,
  todoForVisitors,
  causeOf,
  type KnownCause,
  type UnavailableMessages,
  type SuggestedAction,
} from './unavailable-messages.ts'
import { completeDocument, escaped, mainLink, reloadHref, type Markup } from './document.ts'
import { logRegion } from './log-excerpt.ts'

/** Whose container it is, who looks, and where they can go. */
export interface UnavailableView {
  /** `{slug}-{type}` */
  readonly prefix: string
  /** Used where the explanation has no name of its own. */
  readonly displayName: string
  /** Only the owner may start it, and only the owner sees what it wrote. */
  readonly isOwner: boolean
  /** Where its owner starts it; leads back by itself. */
  readonly launchHref: string
  readonly dashboardUrl: string
  readonly language: Language
  readonly look?: PageLook | undefined
}

/** What is known. An explanation without an absence means: it runs but does not answer. */
export type UnavailableReason = Explanation | Unavailable | 'blocked'

/**
 * A complete page that says why an app cannot be used, and the one thing that helps. Send it with `pagePolicy`.
 * It never reloads by itself: a page that is read must not move under its reader (WCAG 2.2, 2.2.1), and a reload would
 * take away the lines that say why.
 */
export function unavailablePage(reason: UnavailableReason, view: UnavailableView): string {
  const { dashboardUrl, language, look } = view
  const title = localize(language, wordsFor(reason, view).title)
  return completeDocument({ title, dashboardUrl, language, look }, unavailableBody(reason, view))
}

/** The content of that page, for the end of a progress page. */
export function unavailableBody(reason: UnavailableReason, view: UnavailableView): Markup {
  const { title, what, todo, action, button } = wordsFor(reason, view)
  const { language } = view
  return {
    html: `<h1>${escaped(localize(language, title))}</h1>
<p>${escaped(localize(language, what))}</p>
<p>${escaped(localize(language, todo))}</p>
${mainLink(hrefOf(action, view), localize(language, button))}
${logRegion(view.isOwner ? linesOf(reason) : [], language).html}<p class="hint">${escaped(view.prefix)}</p>
`,
  }
}

function wordsFor(reason: UnavailableReason, view: UnavailableView): UnavailableMessages {
  const words = unavailableMessages(knownCause(reason, view), nameOf(reason, view))
  if (view.isOwner) return words
  const others = { ...words, todo: todoForVisitors[words.action] }
  return words.action === 'start' ? { ...others, action: 'again', button: message('pages.tryAgain') } : others
}

function knownCause(reason: UnavailableReason, view: UnavailableView): KnownCause {
  if (reason === 'blocked') return { cause: 'blocked', exitCode: null, refusal: '' }
  return causeOf('reason' in reason ? reason : reason.unavailable, view)
}

const isExplanation = (reason: UnavailableReason): reason is Explanation =>
  reason !== 'blocked' && 'lastLines' in reason

const nameOf = (reason: UnavailableReason, view: UnavailableView) =>
  (isExplanation(reason) && reason.displayName) || view.displayName || view.prefix

const linesOf = (reason: UnavailableReason) => (isExplanation(reason) ? reason.lastLines : [])

function hrefOf(help: SuggestedAction, view: UnavailableView): string {
  if (help === 'start') return view.launchHref
  return help === 'again' ? reloadHref : view.dashboardUrl
}
