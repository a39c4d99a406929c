import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'

/** The worst state of an installation: `engine` does not answer, `starting` before the first run. */
type Health = 'engine' | 'starting' | 'unfinished' | 'warned' | 'well'

export function healthOf({ reconciler, warnings }: Pick<SystemReport, 'reconciler' | 'warnings'>): Health {
  // Before the first run it is unknown whether the engine answers, and the report says that it does not.
  if (reconciler.last_run === null) return 'starting'
  if (!reconciler.is_engine_answering) return 'engine'
  if (reconciler.failures.length > 0) return 'unfinished'
  return warnings.length > 0 ? 'warned' : 'well'
}

/** For how long a mail that was not accepted is reported, in ms. */
const recent = 3_600_000

/** When the latest mail was not accepted, if that was recent; undefined otherwise. @param now in ms */
export function recentFailure(at: string | null, now: number): string | undefined {
  return at !== null && now - Date.parse(at) < recent ? at : undefined
}
