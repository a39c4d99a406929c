import type { LaunchFailedBody } from '@berth/api/schemas/error.ts'

/** How a program ended, beyond what the sentence about it says already; in `dashboard.failure`. */
export interface EndFacts {
  readonly isOutOfMemory: boolean
  readonly exitCode: number | undefined
}

export function factsOf({ error, exit_code: code, is_out_of_memory, reason }: LaunchFailedBody): EndFacts {
  // The server's sentence about it says so, whatever language it is in, and the code is the kernel's then.
  if (reason === 'out-of-memory') return { isOutOfMemory: false, exitCode: undefined }
  const isSaid = typeof code === 'number' && new RegExp(`(?<!\\d)${code}(?!\\d)`).test(error)
  return {
    isOutOfMemory: is_out_of_memory === true,
    exitCode: typeof code === 'number' && !isSaid ? code : undefined,
  }
}

/** The step that helps after a failed launch: the same once more, more memory, or somebody who can change something. */
export type Help = 'retry' | 'contact'

/** Exit codes of shells and engines for a command that was not found, or cannot be run. */
const commandMissing = new Set([126, 127])

/** Of what only an administrator can mend it is no use to try it again. */
export const helpAfter = ({ reason, exit_code: code }: Partial<LaunchFailedBody>): Help =>
  reason === 'out-of-memory' || reason === 'no-image' || commandMissing.has(code ?? 0) ? 'contact' : 'retry'
