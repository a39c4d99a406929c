import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '@berth/server/config/config.ts'
import { reasonOf } from '#/command-failure.ts'
import { checkCluster, checkPolicies, checkQuotas, checkRights, checkStorage } from './check-cluster.ts'
import {
  checkAddressPools,
  checkClock,
  checkBuilds,
  checkDisk,
  checkEngine,
  checkHostRules,
  checkImages,
  checkInotify,
} from './check-host.ts'
import { checkHomeSources } from './check-homes.ts'
import { checkBackups, checkNodes, checkService, checkSettings, checkStoreAnswers } from './check-installation.ts'
import {
  checkContainerHosts,
  checkCookieDomain,
  checkDns,
  checkMailDomain,
  checkMailServer,
  checkPorts,
  checkProxy,
  checkTls,
} from './check-network.ts'
import { checkSsh } from './check-ssh.ts'
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

/** All checks, in the order in which findings of one level are shown. */
export const allChecks: readonly Check[] = [
  { name: 'engine', run: checkEngine },
  { name: 'host rules', run: checkHostRules },
  { name: 'dns', run: checkDns },
  { name: 'ports', run: checkPorts },
  { name: 'ssh', run: checkSsh },
  { name: 'tls', run: checkTls },
  { name: 'container hosts', run: checkContainerHosts },
  { name: 'cookie domain', run: checkCookieDomain },
  { name: 'proxy', run: checkProxy },
  { name: 'store', run: checkStoreAnswers },
  { name: 'nodes', run: checkNodes },
  { name: 'backups', run: checkBackups },
  { name: 'disk', run: checkDisk },
  { name: 'home sources', run: checkHomeSources },
  { name: 'images', run: checkImages },
  { name: 'builds', run: checkBuilds },
  { name: 'address pools', run: checkAddressPools },
  { name: 'inotify', run: checkInotify },
  { name: 'clock', run: checkClock },
  { name: 'mail server', run: checkMailServer },
  { name: 'mail domain', run: checkMailDomain },
  { name: 'settings', run: checkSettings },
  { name: 'service', run: checkService },
]

/** Checks of an engine on this machine. */
const ofDocker = new Set(['engine', 'host rules', 'images', 'builds', 'address pools', 'inotify'])

/** In the place of those. */
const ofCluster: readonly Check[] = [
  { name: 'cluster', run: checkCluster },
  { name: 'rights', run: checkRights },
  { name: 'policies', run: checkPolicies },
  { name: 'storage', run: checkStorage },
  { name: 'quotas', run: checkQuotas },
]

/** The checks of an installation with these settings. */
export const checksFor = ({ kubernetes }: Pick<Config, 'kubernetes'>): readonly Check[] =>
  kubernetes === null ? allChecks : [...ofCluster, ...allChecks.filter(({ name }) => !ofDocker.has(name))]
