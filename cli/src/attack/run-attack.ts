import type { AttackInstallation, Attempt, Outcome } from './attack-installation.ts'
import {
  exhaustDisk,
  exhaustMemory,
  exhaustProcesses,
  gainRights,
  reachHost,
  reachMetadata,
  reachNeighbours,
  swapMounts,
  useEngine,
} from './container-attempts.ts'
import { openPorts, useSsh } from './ssh-attempts.ts'
import { fixSession, hijackOrigin, readLinks, slowApi, slowOthers, tossCookies, useApi } from './platform-attempts.ts'

/** Limit of one attempt, in ms. On a machine of two cores with a load of 25, 500 processes took 35 s to start. */
const defaultLimit = 60_000

/** Outcome of an attempt, or why it could not be tried. */
export interface AttemptResult {
  readonly attempt: string
  readonly outcome: Outcome | null
  /** Null when it was tried. */
  readonly notTried: string | null
}

/**
 * Tries one thing after the other, each with its limit.
 * @param onResult called after each @param limit ms
 * @throws the reason of the signal
 */
export async function runAttack(
  attempts: readonly Attempt[],
  installation: AttackInstallation,
  signal: AbortSignal,
  onResult: (result: AttemptResult) => void,
  limit = defaultLimit,
): Promise<AttemptResult[]> {
  const results: AttemptResult[] = []
  for (const attempt of attempts) {
    const result = await tryOnce(attempt, installation, signal, limit)
    signal.throwIfAborted()
    results.push(result)
    onResult(result)
  }
  return results
}

async function tryOnce(
  { name, run }: Attempt,
  installation: AttackInstallation,
  signal: AbortSignal,
  limit: number,
): Promise<AttemptResult> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(limit)])
  const { promise: ended, reject } = Promise.withResolvers<never>()
  until.addEventListener('abort', () => reject(new Error(`no result in ${limit / 1_000} s`)), { once: true })
  ended.catch(() => undefined)
  try {
    return { attempt: name, outcome: await Promise.race([run(installation, until), ended]), notTried: null }
  } catch (error) {
    return { attempt: name, outcome: null, notTried: (error as Error).message }
  }
}

/** All attempts, in their order; those that may end the container come last. */
export const allAttempts: readonly Attempt[] = [
  { name: 'neighbours', run: reachNeighbours },
  { name: 'host', run: reachHost },
  { name: 'metadata', run: reachMetadata },
  { name: 'engine', run: useEngine },
  { name: 'rights', run: gainRights },
  { name: 'mounts', run: swapMounts },
  { name: 'api', run: useApi },
  { name: 'ports', run: openPorts },
  { name: 'ssh', run: useSsh },
  { name: 'cookies', run: tossCookies },
  { name: 'origin', run: hijackOrigin },
  { name: 'sessions', run: fixSession },
  { name: 'links', run: readLinks },
  { name: 'pieces', run: slowOthers },
  { name: 'listings', run: slowApi },
  { name: 'disk', run: exhaustDisk },
  { name: 'processes', run: exhaustProcesses },
  { name: 'memory', run: exhaustMemory },
]
