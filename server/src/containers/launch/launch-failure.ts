import { withTimeout } from '#/concurrency/try-or-log.ts'
import { Refusal, type FailedLaunch } from '#/errors.ts'
import type { Unavailable } from '#/gateway/gateway-state.ts'
import { message, type LocalizedMessage } from '#/messages/localized-message.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import { unavailable } from '../state/container-state.ts'
import type { LaunchStage } from './progress/launch-progress.ts'

/** What the app wrote last, as much as its owner is shown. */
const maxLines = 50
/** How long reading that may take, in ms; it is left out then. */
const linesTimeout = 3_000

/** The engine started the program, and it ended within the time it was watched. */
export class ExitedOnStart extends RuntimeError {
  /** Undefined when the container is gone. */
  readonly instance: RuntimeContainer | undefined

  constructor(name: string, instance: RuntimeContainer | undefined) {
    const how = `${instance?.state ?? 'gone'}, exit code ${instance?.exitCode ?? 'unknown'}`
    super('failed', `${name} ended at once (${how})`)
    this.instance = instance
  }
}

type Details = Omit<FailedLaunch, 'lastLines'>

/** A launch that failed, with all that its owner is told. The engine's own words are in the cause. */
export class LaunchFailure extends RuntimeError implements FailedLaunch {
  readonly reason: FailedLaunch['reason']
  readonly sentence: LocalizedMessage
  readonly exitCode: number | null
  readonly isOutOfMemory: boolean
  /** Private to the instance, because a log takes what it finds on an error, and an app may write its owner's secrets. */
  readonly #lastLines: readonly string[]

  constructor(cause: RuntimeError, details: Details, lastLines: readonly string[]) {
    super(cause.kind, cause.message, cause)
    this.name = 'LaunchFailure'
    this.reason = details.reason
    this.sentence = details.sentence
    this.exitCode = details.exitCode
    this.isOutOfMemory = details.isOutOfMemory
    this.#lastLines = lastLines
  }

  /** What the app wrote last, oldest first; for the owner's eyes only. */
  get lastLines(): readonly string[] {
    return this.#lastLines
  }
}

/** What a failed start means. Of a program that ended, its last lines are read, so it must still be there. Never throws. */
export async function explainFailure(runtime: Pick<Runtime, 'logs'>, error: RuntimeError): Promise<LaunchFailure> {
  if (error instanceof LaunchFailure) return error
  const id = error instanceof ExitedOnStart ? error.instance?.id : undefined
  const lines =
    id === undefined
      ? []
      : await withTimeout(
          linesTimeout,
          runtime.logs(id, maxLines).catch(() => []),
        )
  return new LaunchFailure(error, detailsOf(error, lines ?? []), lines ?? [])
}

function detailsOf(error: RuntimeError, lines: readonly string[]): Details {
  const none = { exitCode: null, isOutOfMemory: false }
  if (error.kind === 'unreachable') return { ...none, reason: 'engine', sentence: message('launches.engine') }
  if (error.kind === 'full') return { ...none, reason: 'full', sentence: message('launches.full') }
  if (error.kind === 'image') return { ...none, reason: 'no-image', sentence: message('launches.noImage') }
  if (error instanceof ExitedOnStart && error.instance) return detailsOfEnd(error.instance, lines)
  const isProgramMissing = notExecutable.test(String(error.cause))
  return {
    ...none,
    reason: 'failed',
    sentence: isProgramMissing ? message('launches.notExecutable') : message('launches.failed'),
  }
}

function detailsOfEnd({ exitCode, isOutOfMemory }: RuntimeContainer, lines: readonly string[]): Details {
  const ended = { exitCode, isOutOfMemory }
  if (isOutOfMemory) return { ...ended, reason: 'out-of-memory', sentence: message('launches.outOfMemory') }
  // The engine starts a small init, which then is what cannot execute the program.
  if (lines.some((line) => line.startsWith('[FATAL tini')))
    return { ...ended, reason: 'failed', sentence: message('launches.notExecutable') }
  // What shells and the engine report for a command that is not there, or cannot be run.
  if (exitCode === 126 || exitCode === 127)
    return { ...ended, reason: 'crashed', sentence: message('launches.commandMissing', { exitCode }) }
  return { ...ended, reason: 'crashed', sentence: crashed(exitCode) }
}

/** Of the engine's words; there is no other sign of it. */
const notExecutable = /no such file|not found in \$PATH|permission denied|exec format error/i

const crashed = (exitCode: number | null) =>
  exitCode === null ? message('launches.crashed') : message('launches.crashedWith', { exitCode })

/** What a failure says about the container; nothing, when it says more about a block, the host or the engine. */
export function unavailableAfter(error: unknown): Unavailable | undefined {
  if (!(error instanceof LaunchFailure)) return undefined
  const { reason, exitCode } = error
  return reason === 'engine' || reason === 'full' || reason === 'stopped' ? undefined : unavailable(reason, exitCode)
}

/** The last stage of a launch that ended in this error. */
export function failedStage(error: unknown): LaunchStage {
  const { reason, sentence, exitCode, lastLines } = error instanceof LaunchFailure ? error : refusedLaunch(error)
  return { stage: 'failed', reason, message: sentence, exit_code: exitCode, last_lines: [...lastLines] }
}

function refusedLaunch(error: unknown): FailedLaunch {
  const said = error instanceof Refusal ? error.extra.reason : undefined
  const reason = said === 'full' || said === 'stopped' ? said : 'failed'
  const sentence = error instanceof Refusal ? error.sentence : message('launches.failed')
  return { reason, sentence, exitCode: null, isOutOfMemory: false, lastLines: [] }
}
