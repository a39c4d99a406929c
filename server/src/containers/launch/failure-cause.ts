import { Refusal } from '#/errors.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { LaunchFailure } from './launch-failure.ts'

/**
 * What is to blame for a start that failed: the container itself, whose program ended by itself or cannot be executed; the
 * server, on which nothing at all can be started now; or anything else that is in the way of this container alone, such as
 * an image that cannot be had, or its owner's limits.
 */
export type FailureCause = 'container' | 'server' | 'other'

/** Killed from outside, not by itself: 128 + SIGKILL, 128 + SIGTERM. */
const killed: ReadonlySet<number | null> = new Set([137, 143])
/** Names of refusals that say nothing about the container that they were told of. */
const ofTheServer: ReadonlySet<string | undefined> = new Set(['serverFull', 'tooManyLaunches', 'stopping'])

/** @param error that a launch ended with */
export function classifyFailure(error: unknown): FailureCause {
  if (error instanceof StoreFailure) return 'server'
  if (error instanceof Refusal) return ofTheServer.has(error.code) ? 'server' : 'other'
  if (error instanceof RuntimeError && (error.kind === 'unreachable' || error.kind === 'full')) return 'server'
  return error instanceof LaunchFailure && isOwn(error) ? 'container' : 'other'
}

function isOwn({ reason, exitCode, sentence }: LaunchFailure): boolean {
  if (sentence.key === 'launches.notExecutable' || reason === 'out-of-memory') return true
  return reason === 'crashed' && exitCode !== null && !killed.has(exitCode)
}
