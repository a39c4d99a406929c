import type { Instance } from '#/runtime/runtime.ts'
import type { KnownContainer } from './known-container.ts'

/** What the engine said of a container: its inspect, its row of a list, or that there is none. */
export type Seen = Instance | 'gone'

/** Whether a list says anything else of a container than what was seen of it. */
export function isOtherThan(seen: Seen | undefined, listed: Instance | undefined): boolean {
  if (!seen) return true
  if (seen === 'gone' || !listed) return (seen === 'gone') !== (listed === undefined)
  return seen.state !== listed.state || seen.address !== listed.address || hasOtherEnd(seen, listed)
}

/** It ran and ended again in between. Some engines tell no exit codes in lists. */
const hasOtherEnd = (seen: Instance, listed: Instance) =>
  seen.exitCode !== null && listed.exitCode !== null && seen.exitCode !== listed.exitCode

/**
 * Whether a list tells less of a container than has to be known: of a program that ended although nobody stopped it, it
 * does not say whether it was for want of memory.
 */
export function isToBeExplained({ wasStopped }: KnownContainer, { state, exitCode }: Instance): boolean {
  return !wasStopped && (state === 'exited' || state === 'dead') && exitCode !== 0
}

export const isUp = (seen: Seen | undefined) =>
  seen !== undefined && seen !== 'gone' && (seen.state === 'running' || seen.state === 'paused')
