import { Refusal } from '#/refusals/errors.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { LaunchFailure } from './launch-failure.ts'

/**
 * What made a start fail. `container`: its program ended by itself or cannot be executed. `server`: nothing at all can
 * be started on it now. `other`: something else that concerns this container alone, such as an image that cannot be
 * pulled, or a limit of its owner.
 */
export type FailureCause = 'container' | 'server' | 'other'

/** Exit codes of a program that was killed from outside: 128 + SIGKILL, 128 + SIGTERM. */
const killed: ReadonlySet<number | null> = new Set([137, 143])
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
  return reason === 'crashed' && exitCode !== null && !killed.has(exitCode)
}
