import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '#/command-failure.ts'
import { levels, type Check, type CheckContext, type Finding, type Level } from './check.ts'

/** Limit of one check, in ms. */
const defaultLimit = 10_000

/** Result of one check: what it found, or why it could not look. */
export interface CheckResult {
  readonly check: string
  readonly findings: readonly Finding[]
  /** Null when it was checked. */
  readonly notChecked: string | null
}

/**
 * Runs all checks at the same time, each with its limit; one that fails or hangs does not affect the others.
 * @param limit ms @throws the reason of the signal
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  signal: AbortSignal,
  limit = defaultLimit,
): Promise<CheckResult[]> {
  const results = await Promise.all(checks.map((check) => runCheck(check, context, signal, limit)))
  signal.throwIfAborted()
  return results
}

async function runCheck(check: Check, context: CheckContext, signal: AbortSignal, limit: number): Promise<CheckResult> {
  const ending = new AbortController()
  const until = AbortSignal.any([signal, ending.signal])
  const tooLate = sleep(limit, undefined, { signal: until }).then(() => {
    throw new Error(`no result in ${limit / 1_000} s`)
  })
  try {
    const findings = await Promise.race([check.run(context, until), tooLate])
    return { check: check.name, findings, notChecked: null }
  } catch (error) {
    return { check: check.name, findings: [], notChecked: reasonOf(error) }
  } finally {
    ending.abort()
    // Its abort is no failure of anything.
    tooLate.catch(() => undefined)
  }
}

/** A finding, and the check that it is of. */
export type NamedFinding = Finding & { readonly check: string }

/** All findings, the worst first; of one level in the order of the checks. */
export const bySeverity = (results: readonly CheckResult[]): NamedFinding[] =>
  levels.flatMap((level) =>
    results.flatMap(({ check, findings }) =>
      findings.filter((each) => each.level === level).map((each) => ({ ...each, check })),
    ),
  )

/** Whether any finding is of this level or above. */
export const reachesLevel = (results: readonly CheckResult[], level: Level): boolean =>
  results.some(({ findings }) => findings.some((each) => levels.indexOf(each.level) <= levels.indexOf(level)))
