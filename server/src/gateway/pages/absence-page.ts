import type { Language } from '@berth/api/boot.ts'
import { message } from '../../messages/message.ts'
import type { Absence, Explanation } from '../gateway.ts'
import { say } from '../say.ts'
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
  readonly language: Language
}

/** What is known. An explanation without an absence means: it runs but does not answer. */
export type AbsenceReason = Explanation | Absence | 'blocked'

/**
 * A complete page that says why an app cannot be used, and the one thing that helps. Send it with `pagePolicy`.
 * It never reloads by itself: a page that is read must not move under its reader (WCAG 2.2, 2.2.1), and a reload would
 * take away the lines that say why.
 */
export function absencePage(reason: AbsenceReason, view: AbsenceView): string {
  const { dashboardUrl, language } = view
  const title = say(language, wordsFor(reason, view).title)
  return completeDocument({ title, dashboardUrl, language }, absenceBody(reason, view))
}

/** The content of that page, for the end of a progress page. */
export function absenceBody(reason: AbsenceReason, view: AbsenceView): Markup {
  const { title, what, todo, help, button } = wordsFor(reason, view)
  const { language } = view
  return {
    html: `<h1>${escaped(say(language, title))}</h1>
<p>${escaped(say(language, what))}</p>
<p>${escaped(say(language, todo))}</p>
${mainLink(addressOf(help, view), say(language, button))}
${logRegion(view.isOwner ? linesOf(reason) : [], language).html}<p class="hint">${escaped(view.prefix)}</p>
`,
  }
}

function wordsFor(reason: AbsenceReason, view: AbsenceView): AbsenceWords {
  const { why, exitCode } = whyOf(reason)
  const words = absenceWords(why, nameOf(reason, view), exitCode)
  if (view.isOwner) return words
  const others = { ...words, todo: todoForOthers[words.help] }
  return words.help === 'start' ? { ...others, help: 'again', button: message('pages.tryAgain') } : others
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
