import type { Absence, Explanation } from '../gateway.ts'
import { absenceWords, todoForOthers, type AbsenceWords, type Help, type Why } from './absence-words.ts'
import { completeDocument, escaped, mainLink, sameAddress, type Markup } from './document.ts'
import { logRegion } from './log-lines.ts'

/** Whose container it is, who looks, and where they can go. */
export interface AbsenceView {
  /** `{slug}-{type}` */
  readonly prefix: string
  /** Used where the explanation has no name of its own. */
  readonly displayName: string
  /** Only the owner may start it, and only the owner sees what it wrote. */
  readonly isOwner: boolean
  /** Where its owner starts it; leads back by itself. */
  readonly launchHref: string
  readonly dashboardUrl: string
}

/** What is known. An explanation without an absence means: it runs but does not answer. */
export type AbsenceReason = Explanation | Absence | 'blocked'

/**
 * A complete page that says why an app cannot be used, and the one thing that helps. Send it with `pagePolicy`.
 * It never reloads by itself: a page that is read must not move under its reader (WCAG 2.2, 2.2.1), and a reload would
 * take away the lines that say why.
 */
export function absencePage(reason: AbsenceReason, view: AbsenceView): string {
  return completeDocument(wordsFor(reason, view).title, view.dashboardUrl, absenceBody(reason, view))
}

/** The content of that page, for the end of a progress page. */
export function absenceBody(reason: AbsenceReason, view: AbsenceView): Markup {
  const { title, what, todo, help, button } = wordsFor(reason, view)
  return {
    html: `<h1>${escaped(title)}</h1>
<p>${escaped(what)}</p>
<p>${escaped(todo)}</p>
${mainLink(addressOf(help, view), button)}
${logRegion(view.isOwner ? linesOf(reason) : []).html}<p class="hint">${escaped(view.prefix)}</p>
`,
  }
}

function wordsFor(reason: AbsenceReason, view: AbsenceView): AbsenceWords {
  const { why, exitCode } = whyOf(reason)
  const words = absenceWords(why, nameOf(reason, view), exitCode)
  if (view.isOwner) return words
  const others = { ...words, todo: todoForOthers[words.help] }
  return words.help === 'start' ? { ...others, help: 'again', button: 'Try again' } : others
}

function whyOf(reason: AbsenceReason): { why: Why; exitCode: number | null } {
  if (reason === 'blocked') return { why: 'blocked', exitCode: null }
  const absence = 'absent' in reason ? reason : reason.absence
  return absence ? { why: absence.absent, exitCode: absence.exitCode } : { why: 'silent', exitCode: null }
}

const isExplanation = (reason: AbsenceReason): reason is Explanation => reason !== 'blocked' && 'lastLines' in reason

const nameOf = (reason: AbsenceReason, view: AbsenceView) =>
  (isExplanation(reason) && reason.displayName) || view.displayName || view.prefix

const linesOf = (reason: AbsenceReason) => (isExplanation(reason) ? reason.lastLines : [])

function addressOf(help: Help, view: AbsenceView): string {
  if (help === 'start') return view.launchHref
  return help === 'again' ? sameAddress : view.dashboardUrl
}
