import type { LaunchFailedBody } from '@berth/api/schemas/error.ts'

/** How a program ended, beyond what the server's sentence says; shown by `dashboard.failure`. */
export interface EndFacts {
  readonly isOutOfMemory: boolean
  readonly exitCode: number | undefined
}

export function factsOf({ error, exit_code: code, is_out_of_memory, reason }: LaunchFailedBody): EndFacts {
  // The server's sentence says so in every language, and the exit code is the kernel's.
  if (reason === 'out-of-memory') return { isOutOfMemory: false, exitCode: undefined }
  const isSaid = typeof code === 'number' && new RegExp(`(?<!\\d)${code}(?!\\d)`).test(error)
  return {
    isOutOfMemory: is_out_of_memory === true,
    exitCode: typeof code === 'number' && !isSaid ? code : undefined,
  }
}

/** The next step after a failed launch: launch again, or contact an administrator. */
export type Help = 'retry' | 'contact'

/** Exit codes of shells and engines for a command that was not found or cannot be run. */
const commandMissing = new Set([126, 127])

/** Another launch does not help where only an administrator can correct the cause. */
export const helpAfter = ({ reason, exit_code: code }: Partial<LaunchFailedBody>): Help =>
  reason === 'out-of-memory' || reason === 'no-image' || commandMissing.has(code ?? 0) ? 'contact' : 'retry'
