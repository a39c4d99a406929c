import type { SystemReport } from '@berth/api/schemas/admin.ts'

/** How an installation is, by the worst that is so: `engine` it does not answer, `starting` nothing was looked at yet. */
export type Health = 'engine' | 'starting' | 'unfinished' | 'warned' | 'well'

export function healthOf({ reconciler, warnings }: Pick<SystemReport, 'reconciler' | 'warnings'>): Health {
  // Before the first look nobody knows whether the engine answers, and the report says that it does not.
  if (reconciler.last_run === null) return 'starting'
  if (!reconciler.is_engine_answering) return 'engine'
  if (reconciler.failures.length > 0) return 'unfinished'
  return warnings.length > 0 ? 'warned' : 'well'
}

/** For how long a mail that was not accepted is worth a word, in ms. */
const recent = 3_600_000

/** When the latest mail was not accepted, if that was lately; undefined otherwise. @param now in ms */
export function lateFailure(at: string | null, now: number): string | undefined {
  return at !== null && now - Date.parse(at) < recent ? at : undefined
}
