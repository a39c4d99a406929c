import { DiskNearlyFull } from '#/machine/disk-room.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { TermEndProblem } from '#/store/term-ends.ts'

/** An end of term cannot go on at the moment, and no member is the cause: nothing counts as an attempt. */
export class TermEndPaused extends Error {
  readonly problem: TermEndProblem

  constructor(problem: TermEndProblem, cause?: unknown) {
    super(`the end of a term waits: ${problem}`, { cause })
    this.name = 'TermEndPaused'
    this.problem = problem
  }
}

/** Why work failed that concerns all members alike, by the error or its causes; undefined for a failure of this member. */
export function pauseFor(error: unknown): TermEndPaused | undefined {
  if (error instanceof TermEndPaused) return error
  if (!(error instanceof Error)) return undefined
  if (isFull(error)) return new TermEndPaused('disk', error)
  if (error instanceof RuntimeError && error.kind === 'unreachable') return new TermEndPaused('engine', error)
  return pauseFor(error.cause)
}

const isFull = (error: Error) =>
  error instanceof DiskNearlyFull || ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
