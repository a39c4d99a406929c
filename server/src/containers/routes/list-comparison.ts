import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { ContainerState } from './container-state.ts'

/** What the engine reported of a container: its inspect, its row of a list, or that it does not exist. */
export type Seen = RuntimeContainer | 'gone'

/** Whether a list differs from the last inspect of a container. */
export function differsFromList(seen: Seen | undefined, listed: RuntimeContainer | undefined): boolean {
  if (!seen) return true
  if (seen === 'gone' || !listed) return (seen === 'gone') !== (listed === undefined)
  return seen.state !== listed.state || seen.address !== listed.address || hasOtherExit(seen, listed)
}

/** It ran and ended again in between. Some engines have no exit codes in lists. */
const hasOtherExit = (seen: RuntimeContainer, listed: RuntimeContainer) =>
  seen.exitCode !== null && listed.exitCode !== null && seen.exitCode !== listed.exitCode

/**
 * Whether a list has too little about a container: for a program that ended by itself it does not say whether it ran
 * out of memory.
 */
export function needsInspect({ wasStopped }: ContainerState, { state, exitCode }: RuntimeContainer): boolean {
  return !wasStopped && (state === 'exited' || state === 'dead') && exitCode !== 0
}

export const isUp = (seen: Seen | undefined) =>
  seen !== undefined && seen !== 'gone' && (seen.state === 'running' || seen.state === 'paused')
