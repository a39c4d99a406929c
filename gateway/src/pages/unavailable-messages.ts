import type { Language } from '@berth/api/boot.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Unavailable } from '#/port/gateway-state.ts'

/** Why an app cannot be used: its container is unavailable or blocked, may not be started, or runs but is unreachable. */
export type UnavailableCause = Unavailable['reason'] | 'blocked' | 'refused' | 'unreachable'

/** A cause with what is known of it. */
export interface KnownCause {
  readonly cause: UnavailableCause
  /** Of its program, where one is known. */
  readonly exitCode: number | null
  /** With the cause `refused`: why, in the reader's language. */
  readonly refusal: string
}

/** `start` leads to where it is started, `again` to the same address, `dashboard` there. */
export type SuggestedAction = 'start' | 'again' | 'dashboard'

export interface UnavailableMessages {
  readonly title: LocalizedMessage
  /** What happened. */
  readonly what: LocalizedMessage
  /** What its owner can do about it. */
  readonly todo: LocalizedMessage
  /** The one link that helps its owner, and its text. */
  readonly action: SuggestedAction
  readonly button: LocalizedMessage
}

const filesStay = message('pages.filesStay')
const toStart = { action: 'start', button: message('pages.startIt') } as const
const toStartAgain = { action: 'start', button: message('pages.startItAgain') } as const
const toDashboard = { action: 'dashboard', button: message('pages.openDashboard') } as const
const toRetryStart = { action: 'start', button: message('pages.tryAgain') } as const
const toRetry = { action: 'again', button: message('pages.tryAgain') } as const

/** Only its owner starts a container, so others are not told why a start was refused. @param unavailable undefined: it runs */
export function causeOf(
  unavailable: Unavailable | undefined,
  { isOwner, language }: { readonly isOwner: boolean; readonly language: Language },
): KnownCause {
  const { reason = 'unreachable', exitCode = null, refusal } = unavailable ?? {}
  const known: KnownCause = { cause: reason, exitCode, refusal: '' }
  return refusal && isOwner ? { ...known, cause: 'refused', refusal: refusal[language] } : known
}

/** What is said about an app called `name`. */
export function unavailableMessages({ cause, exitCode, refusal }: KnownCause, name: string): UnavailableMessages {
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
        what: message('pages.unreachableWhat'),
        todo: message('pages.unreachableTodo'),
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
export const todoForVisitors: Readonly<Record<SuggestedAction, LocalizedMessage>> = {
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
