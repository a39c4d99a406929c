import { RuntimeError } from '#/engines/runtime-error.ts'

/** Starter files that cannot be had, or are refused. The message says which and why, for the operator. */
export class StarterFilesError extends RuntimeError {
  constructor(problem: string, cause?: unknown) {
    super('failed', problem, cause)
    this.name = 'StarterFilesError'
  }
}
