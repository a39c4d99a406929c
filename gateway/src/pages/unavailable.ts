import type { Language } from '@berth/api/boot.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Explanation, PageLook, Unavailable } from '#/port/gateway.ts'
import { completeDocument, containerTitle, escaped, logRegion, mainLink, reloadHref, type Markup } from './document.ts'
import { GatewayRefusal } from './gateway-refusals.ts'
import { jsonResponse, pageResponse, type GatewayResponse } from './gateway-response.ts'
import { localize } from './localize-plain.ts'
import { usuallyTakes } from './progress.ts'

/** The container that is unavailable, and whether its owner asks. */
export interface UnavailableContainer {
  readonly prefix: string
  /** As encoded in its path. */
  readonly type: string
  readonly displayName: string
  readonly isOwner: boolean
  /** Port at which it refused connections until they were given up; left out when something else is wrong. */
  readonly refusedPort?: number | undefined
  /** As in `TypeRules`. */
  readonly sign?: string | undefined
}

/** Seconds until trying again makes sense; a crash waits for a person. */
const retryAfter: Partial<Record<UnavailableCause, string>> = { asleep: '2', unknown: '10', unreachable: '5' }

/** `{error}` with `Retry-After`, for programs. @param unavailable undefined when the container runs but its app does not answer */
export function unavailableForPrograms(unavailable: Unavailable | undefined, view: UnavailableView): GatewayResponse {
  const known = causeOf(unavailable, view)
  const { title, what, todo } = unavailableMessages(known, view.displayName)
  const sentence = message('gateway.absent', { title, what, todo })
  return jsonResponse(new GatewayRefusal(statusOf(known), sentence, { headers: retryLater(known) }), view.language)
}

/** A page with the reason, what its view may show of it, and the link that helps. @param unavailable as for programs */
export function unavailableForBrowsers(
  unavailable: Unavailable | undefined,
  reason: UnavailableReason,
  view: UnavailableView,
): GatewayResponse {
  const known = causeOf(unavailable, view)
  const { language, look } = view
  return pageResponse(statusOf(known), unavailablePage(reason, view), language, { headers: retryLater(known), look })
}

const statusOf = ({ cause }: KnownCause) => (cause === 'unreachable' ? 502 : 503)
const retryLater = ({ cause }: KnownCause) => ({ 'retry-after': retryAfter[cause] ?? '30' })

/** Whose container it is, who looks, and where they can go. */
export interface UnavailableView {
  /** `{slug}-{type}` */
  readonly prefix: string
  /** Used where the explanation has no name of its own. */
  readonly displayName: string
  /** Only the owner may start it, and only the owner sees what it wrote. */
  readonly isOwner: boolean
  /** Port at which it refused connections; left out when something else is wrong. */
  readonly refusedPort?: number | undefined
  /** As in `TypeRules`. */
  readonly sign?: string | undefined
  /** How long a start usually takes here; left out where too few were seen. */
  readonly usualSeconds?: number | undefined
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
  const { language, sign } = view
  const isAfterFailure = isBad(knownCause(reason, view))
  const usually = action === 'start' && !isAfterFailure ? usuallyTakes(view.usualSeconds, language) : ''
  return {
    html: `${containerTitle(localize(language, title), sign, isAfterFailure)}
<p>${escaped(localize(language, what))}</p>
<p>${escaped(localize(language, todo))}${usually}</p>
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

/** Why an app cannot be used: its container is unavailable or blocked, may not be started, or runs but is unreachable. */
type UnavailableCause = Unavailable['reason'] | 'blocked' | 'refused' | 'unreachable'

/** A cause with what is known of it. */
interface KnownCause {
  readonly cause: UnavailableCause
  /** Of its program, where one is known. */
  readonly exitCode: number | null
  /** With the cause `refused`: why, in the reader's language. */
  readonly refusal: string
  /** With the cause `unreachable`: where nothing listens, when that is known. */
  readonly refusedPort?: number | undefined
}

/** `start` leads to where it is started, `again` to the same address, `dashboard` there. */
type SuggestedAction = 'start' | 'again' | 'dashboard'

interface UnavailableMessages {
  readonly title: LocalizedMessage
  /** What happened. */
  readonly what: LocalizedMessage
  /** What its owner can do about it. */
  readonly todo: LocalizedMessage
  /** The one link that helps its owner, and its text. */
  readonly action: SuggestedAction
  readonly button: LocalizedMessage
}

/** Whether something went wrong, or is forbidden, rather than at rest or unknown. */
const isBad = ({ cause }: KnownCause) => !['asleep', 'missing', 'evicted', 'unknown'].includes(cause)

const filesStay = message('pages.filesStay')
const toStart = { action: 'start', button: message('pages.startIt') } as const
const toStartAgain = { action: 'start', button: message('pages.startItAgain') } as const
const toDashboard = { action: 'dashboard', button: message('pages.openDashboard') } as const
const toRetryStart = { action: 'start', button: message('pages.tryAgain') } as const
const toRetry = { action: 'again', button: message('pages.tryAgain') } as const

/** Only its owner starts a container, so others are not told why a start was refused. @param unavailable undefined: it runs */
function causeOf(
  unavailable: Unavailable | undefined,
  { isOwner, language, refusedPort }: Pick<UnavailableView, 'isOwner' | 'language' | 'refusedPort'>,
): KnownCause {
  const { reason = 'unreachable', exitCode = null, refusal } = unavailable ?? {}
  const known: KnownCause = { cause: reason, exitCode, refusal: '', refusedPort }
  return refusal && isOwner ? { ...known, cause: 'refused', refusal: refusal[language] } : known
}

/** What is said about an app called `name`. */
function unavailableMessages(
  { cause, exitCode, refusal, refusedPort: port }: KnownCause,
  name: string,
): UnavailableMessages {
  switch (cause) {
    case 'asleep':
      return {
        title: message('pages.asleepTitle', { name }),
        what: message('pages.asleepWhat', { filesStay }),
        todo: message('pages.asleepTodo'),
        ...toStart,
      }
    case 'evicted':
      return {
        title: message('pages.evictedTitle', { name }),
        what: message('pages.evictedWhat', { filesStay }),
        todo: message('pages.evictedTodo'),
        ...toStartAgain,
      }
    case 'node-lost':
      return {
        title: message('pages.nodeLostTitle', { name }),
        what: message('pages.nodeLostWhat', { filesStay }),
        todo: message('pages.nodeLostTodo'),
        ...toRetryStart,
      }
    case 'missing':
      return {
        title: message('pages.missingTitle', { name }),
        what: message('pages.missingWhat'),
        todo: message('pages.missingTodo'),
        ...toStart,
      }
    case 'crashed':
      return {
        title: message('pages.crashedTitle', { name }),
        what: message('pages.crashedWhat', {
          ended: exitCode === null ? message('pages.ended') : exitCodeInWords(exitCode),
          filesStay,
        }),
        ...(exitCode === 126 || exitCode === 127
          ? { todo: message('pages.commandTodo'), ...toDashboard }
          : { todo: message('pages.crashedTodo'), ...toStartAgain }),
      }
    case 'out-of-memory':
      return {
        title: message('pages.memoryTitle', { name }),
        what:
          exitCode === null
            ? message('pages.memoryWhat', { filesStay })
            : message('pages.memoryWhatCode', { exitCode, filesStay }),
        todo: message('pages.memoryTodo'),
        ...toStartAgain,
      }
    case 'no-image':
      return {
        title: message('pages.imageTitle', { name }),
        what: message('pages.imageWhat'),
        todo: message('pages.imageTodo'),
        ...toRetryStart,
      }
    case 'failed':
      return {
        title: message('pages.failedTitle', { name }),
        what:
          exitCode === null
            ? message('pages.failedWhat', { filesStay })
            : message('pages.failedWhatCode', { ended: exitCodeInWords(exitCode), filesStay }),
        todo: message('pages.failedTodo'),
        ...toRetryStart,
      }
    case 'refused':
      return {
        title: message('pages.refusedTitle', { name }),
        what: message('pages.refusedWhat', { why: refusal }),
        todo: message('pages.refusedTodo'),
        ...toDashboard,
      }
    case 'unknown':
      return {
        title: message('pages.unknownTitle', { name }),
        what: message('pages.unknownWhat'),
        todo: message('pages.unknownTodo'),
        ...toRetry,
      }
    case 'unreachable':
      return {
        title: message('pages.unreachableTitle', { name }),
        what: port === undefined ? message('pages.unreachableWhat') : message('pages.nothingListensWhat', { port }),
        todo: message(port === undefined ? 'pages.unreachableTodo' : 'pages.nothingListensTodo'),
        ...toRetry,
      }
    case 'blocked':
      return {
        title: message('pages.blockedTitle', { name }),
        what: message('pages.blockedWhat', { filesStay }),
        todo: message('pages.blockedTodo'),
        ...toDashboard,
      }
  }
}

/** What others than its owner can do, in place of what the owner can: they may use it, but not start it. */
const todoForVisitors: Readonly<Record<SuggestedAction, LocalizedMessage>> = {
  start: message('pages.othersStart'),
  again: message('pages.othersAgain'),
  dashboard: message('pages.othersDashboard'),
}

/** Those that have a meaning of their own: of shells and of the engine. */
const known = [0, 126, 127, 130, 132, 134, 136, 137, 139, 143] as const

/** Above 128 a shell, and the engine, report 128 and the number of the signal that ended a program. */
const [firstSignal, lastSignal] = [129, 192]

/** What a program's exit code says, as a sentence with the number for those who look it up. */
export function exitCodeInWords(code: number): LocalizedMessage {
  const meant = known.find((each) => each === code)
  if (meant !== undefined) return message(`pages.exit${meant}`, { code })
  return code >= firstSignal && code <= lastSignal
    ? message('pages.exitSignal', { signal: code - 128, code })
    : message('pages.exitOther', { code })
}
