import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable, type Unavailable } from '@berth/gateway/port/gateway.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { FolderUnusable, RuntimeError } from '#/engines/runtime-error.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { Refusal, refusals, type FailedLaunch } from '#/refusals/errors.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { StarterFilesError } from '#/templates/starter-files/put-starter-files.ts'
import type { LaunchProgress, LaunchStage } from './launch-progress.ts'

/** Max lines of the app's last output that its owner is shown. */
const maxLines = 50
/** Timeout of reading them, in ms; without an answer they are left out. */
const linesTimeout = 3_000
/** How long after the end of a program its engine may still tell that the kernel killed it for want of memory, in ms. */
const lateReasonTime = 200
/** Exit code of a program that was killed: 128 + SIGKILL. */
const killed = 137

/** The engine started the program, and it ended while start verification watched it. */
export class ExitedOnStart extends RuntimeError {
  /** Undefined when the container is gone. */
  readonly container: RuntimeContainer | undefined

  constructor(name: string, container: RuntimeContainer | undefined) {
    const how = `${container?.state ?? 'gone'}, exit code ${container?.exitCode ?? 'unknown'}`
    super('failed', `${name} ended at once (${how})`)
    this.container = container
  }
}

type Details = Omit<FailedLaunch, 'lastLines'>

/** A launch that failed, with everything that its owner is shown. The engine's own text is in the cause. */
export class LaunchFailure extends RuntimeError implements FailedLaunch {
  readonly reason: FailedLaunch['reason']
  readonly sentence: LocalizedMessage
  readonly exitCode: number | null
  readonly isOutOfMemory: boolean
  /** A private field, because a log writes every property of an error, and an app may print its owner's secrets. */
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

  /** Last output of the app, oldest first; for the owner only. */
  get lastLines(): readonly string[] {
    return this.#lastLines
  }
}

/**
 * Explains a failed start. Reads the last output of a program that ended, so its container must still exist. Never
 * throws.
 */
export async function explainFailure(
  runtime: Pick<Runtime, 'logs' | 'inspectId'>,
  error: RuntimeError,
): Promise<LaunchFailure> {
  if (error instanceof LaunchFailure) return error
  const ended = error instanceof ExitedOnStart ? error.container : undefined
  if (!ended) return new LaunchFailure(error, detailsOf(error), [])
  const [lines = [], final] = await Promise.all([
    withTimeout(
      linesTimeout,
      runtime.logs(ended.id, maxLines).catch(() => []),
    ),
    withLateReason(runtime, ended),
  ])
  return new LaunchFailure(error, detailsOfEnd(final, lines), lines)
}

/** An engine may tell of the end of a program before it tells that memory was the reason. Never throws. */
async function withLateReason(runtime: Pick<Runtime, 'inspectId'>, ended: RuntimeContainer): Promise<RuntimeContainer> {
  if (ended.exitCode !== killed || ended.isOutOfMemory) return ended
  await sleep(lateReasonTime)
  const later = await withTimeout(
    linesTimeout,
    runtime.inspectId(ended.id).catch(() => undefined),
  )
  // The container may have been started again by then.
  return later?.exitCode === killed ? later : ended
}

function detailsOf(error: RuntimeError): Details {
  const none = { exitCode: null, isOutOfMemory: false }
  if (error.kind === 'unreachable') return { ...none, reason: 'engine', sentence: message('launches.engine') }
  if (error instanceof StarterFilesError)
    return { ...none, reason: 'failed', sentence: message('launches.starterFiles') }
  if (error instanceof FolderUnusable)
    return { ...none, reason: 'failed', sentence: message(folderSentences[error.why]) }
  if (error.kind === 'lost') return { ...none, reason: 'node-lost', sentence: message('launches.nodeLost') }
  if (error.kind === 'full') return { ...none, reason: 'full', sentence: fullOf(error) }
  if (error.kind === 'image') return { ...none, reason: 'no-image', sentence: message('launches.noImage') }
  const [, place] = placeTaken.exec(String(error.cause)) ?? []
  if (place !== undefined)
    return { ...none, reason: 'failed', sentence: message('launches.placeTaken', { path: place }) }
  if (noCommand.test(String(error.cause))) return { ...none, reason: 'failed', sentence: message('launches.noCommand') }
  const isProgramMissing = notExecutable.test(String(error.cause))
  return {
    ...none,
    reason: 'failed',
    sentence: isProgramMissing ? message('launches.notExecutable') : message('launches.failed'),
  }
}

const folderSentences = { silent: 'launches.folderSilent', missing: 'launches.folderMissing' } as const

const fullOf = ({ limit }: RuntimeError) =>
  limit === undefined ? message('launches.full') : message('launches.fullOf', { limit })

function detailsOfEnd({ exitCode, isOutOfMemory }: RuntimeContainer, lines: readonly string[]): Details {
  const ended = { exitCode, isOutOfMemory }
  if (isOutOfMemory) return { ...ended, reason: 'out-of-memory', sentence: message('launches.outOfMemory') }
  // The engine starts a small init (tini), and that one cannot execute the program.
  if (lines.some((line) => line.startsWith('[FATAL tini')))
    return { ...ended, reason: 'failed', sentence: message('launches.notExecutable') }
  // Exit codes of shells and the engine for a command that does not exist, or is not executable.
  if (exitCode === 126 || exitCode === 127)
    return { ...ended, reason: 'crashed', sentence: message('launches.commandMissing', { exitCode }) }
  return { ...ended, reason: 'crashed', sentence: crashed(exitCode) }
}

/** Matches the engine's error text; it gives no other sign of the cause. */
const notExecutable = /no such file|not found in \$PATH|permission denied|exec format error/i

/** Of the engine, for an image without a command in a template without one. */
const noCommand = /no command specified/i

/** Of runc, for a file or a link where a folder is to be mounted, or above it: the place in the container. */
const placeTaken = /to rootfs at \\?"([^"\\]+)\\?".*(?:not a directory|too many levels of symbolic links|file exists)/is

const crashed = (exitCode: number | null) =>
  exitCode === null ? message('launches.crashed') : message('launches.crashedWith', { exitCode })

/**
 * Why the container is unavailable after a failed launch; undefined when a block, the host or the engine was the cause.
 */
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

/**
 * What made a start fail. `container`: its program ended by itself or cannot be executed. `server`: nothing at all can
 * be started on it now. `other`: something else that concerns this container alone, such as an image that cannot be
 * pulled, or a limit of its owner.
 */
export type FailureCause = 'container' | 'server' | 'other'

/** Exit codes of a program that was killed from outside: 128 + SIGKILL, 128 + SIGTERM. */
const killedFromOutside: ReadonlySet<number | null> = new Set([137, 143])
/** Names of refusals that concern the server and not the container that was refused. */
const ofTheServer: ReadonlySet<string | undefined> = new Set(['serverFull', 'tooManyLaunches', 'stopping'])

/** @param error that a launch ended with */
export function classifyFailure(error: unknown): FailureCause {
  if (error instanceof StoreFailure) return 'server'
  if (error instanceof Refusal) return ofTheServer.has(error.code) ? 'server' : 'other'
  if (error instanceof RuntimeError && (error.kind === 'unreachable' || error.kind === 'full')) return 'server'
  return error instanceof LaunchFailure && isOwn(error) ? 'container' : 'other'
}

/**
 * Whether the kernel killed a process of the container for want of memory: the container's, or the host's, whose OOM killer counts in
 * the container's `oom_kill` as well (cgroup v2).
 */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof LaunchFailure && error.reason === 'out-of-memory'

function isOwn({ reason, exitCode, sentence }: LaunchFailure): boolean {
  if (sentence.key === 'launches.notExecutable' || reason === 'out-of-memory') return true
  return reason === 'crashed' && exitCode !== null && !killedFromOutside.has(exitCode)
}

/**
 * Ends the stage `waiting` of a container whose program ended before its app accepted connections, and notifies the
 * owner's open pages of the cause; otherwise they would wait until the timeout. A container that was never probed (no
 * page was open) may have worked meanwhile, so it is not reported as failed.
 * @param known state by the last inspect @throws nothing: without the last output the rest is reported
 */
export async function failOnEarlyExit(
  {
    runtime,
    launchProgress,
  }: { readonly runtime: Pick<Runtime, 'logs' | 'inspectId'>; readonly launchProgress: LaunchProgress },
  known: ContainerState,
): Promise<void> {
  const waiting = launchProgress.of(known)
  if (waiting?.stage !== 'waiting') return
  if (known.isBlocked) return launchProgress.enter(known, failedStage(refusals.containerBlocked(null)))
  if (known.wasStopped) return launchProgress.enter(known, failedStage(refusals.launchStopped()))
  const { seen } = known
  if (!hasExited(known) || !seen || seen === 'gone' || launchProgress.isUnprobed(known))
    return launchProgress.forget(known)
  const failure = await explainFailure(runtime, new ExitedOnStart(seen.name, seen))
  // A launch may have begun while the output was read.
  if (launchProgress.of(known) === waiting) launchProgress.enter(known, failedStage(failure))
}

/** Whether the engine reported that its program has ended. */
export const hasExited = ({ seen }: ContainerState) =>
  seen === 'gone' || seen?.state === 'exited' || seen?.state === 'dead'
