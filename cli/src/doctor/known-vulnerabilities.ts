import type { Finding } from './check.ts'

/** A fixed vulnerability of the engine's parts that a hostile container can use, or that opens what Berth closes. */
interface Vulnerability {
  readonly component: 'runc' | 'engine' | 'containerd'
  readonly ids: string
  /** First version of each release branch that has the fix, in ascending order. Newer branches have it, older ones lack it. */
  readonly fixedIn: readonly string[]
  readonly effect: string
}

/** Sources: security advisories of opencontainers/runc, moby/moby and containerd/containerd; as of November 2026. */
const vulnerabilities: readonly Vulnerability[] = [
  {
    component: 'runc',
    ids: 'CVE-2025-31133, CVE-2025-52565, CVE-2025-52881',
    fixedIn: ['1.2.8', '1.3.3', '1.4.0'],
    effect: 'a container can escape to the host',
  },
  {
    component: 'runc',
    ids: 'CVE-2024-21626',
    fixedIn: ['1.1.12'],
    effect: 'a container can escape to the host',
  },
  {
    component: 'engine',
    ids: 'CVE-2025-54410',
    fixedIn: ['25.0.13', '28.0.0'],
    effect: 'a reload of firewalld removes the isolation of containers from each other',
  },
  {
    component: 'engine',
    ids: 'CVE-2022-36109',
    fixedIn: ['20.10.18'],
    effect: 'supplementary groups are set up wrongly in containers',
  },
  {
    component: 'containerd',
    ids: 'CVE-2024-25621',
    fixedIn: ['1.7.29', '2.0.7', '2.1.5', '2.2.0'],
    effect: 'accounts of the host can read files of containers',
  },
]

/** Findings about one component of the engine; none of a version that cannot be read. */
export function vulnerabilitiesOf(component: string, version: string): Finding[] {
  const found = vulnerabilities.filter((each) => each.component === component && isBefore(version, each.fixedIn))
  if (found.length === 0) return []
  const ids = found.map(({ ids }) => ids).join(', ')
  const effects = [...new Set(found.map(({ effect }) => effect))].join('; ')
  return [isPatchedByDistribution(version) ? perhaps(component, version, ids, effects) : known(found, version, effects)]
}

function known([first, ...rest]: readonly Vulnerability[], version: string, effects: string): Finding {
  const all = first ? [first, ...rest] : rest
  const ids = all.map((each) => each.ids).join(', ')
  const target = first?.fixedIn.find((fixed) => compare(fixed, version) > 0) ?? ''
  return {
    level: /escape|isolation/.test(effects) ? 'critical' : 'warning',
    what: `${first?.component} ${version} has known vulnerabilities: ${effects} (${ids}).`,
    fix: `update ${first?.component} to ${target} or newer: apt-get install --only-upgrade docker-ce containerd.io`,
  }
}

/** Distributions mend without a new version: only their list of changes says whether. */
const perhaps = (component: string, version: string, ids: string, effects: string): Finding => ({
  level: 'warning',
  what: `${component} ${version} is a distribution's; without its patches ${effects} (${ids}).`,
  fix: `apt-get update && apt-get install --only-upgrade ${packageOf(component)}; check: apt changelog ${packageOf(component)} | grep -E '${ids.replaceAll(', ', '|')}'`,
})

const packageOf = (component: string) => (component === 'engine' ? 'docker.io' : component)

/** `1.1.5+ds1`, `20.10.24+dfsg1`, `1.1.12-0ubuntu1`; not `28.0.0-ce` and `1.2.4-rc.1`. */
const isPatchedByDistribution = (version: string) => /\+d|~ds|ubuntu|deb\d|\.el\d|\.fc\d|-alpine/.test(version)

/** Whether a version lacks a fix. */
function isBefore(version: string, fixedIn: readonly string[]): boolean {
  if (!/^v?\d+\.\d+/.test(version)) return false
  const branch = (text: string) => numbersIn(text).slice(0, 2).join('.')
  const sameBranch = fixedIn.find((fixed) => branch(fixed) === branch(version))
  if (sameBranch !== undefined) return compare(version, sameBranch) < 0
  // Of a branch without a fixed version of its own: newer than the newest one, it has the fix; else it never got one.
  return compare(version, fixedIn.at(-1) ?? '') < 0
}

const numbersIn = (version: string) => (/^v?([\d.]+)/.exec(version)?.[1] ?? '').split('.').map(Number)

/** @returns a negative number when `one` is older */
function compare(one: string, other: string): number {
  const [left, right] = [numbersIn(one), numbersIn(other)]
  for (const [at, number] of left.entries()) if (number !== (right[at] ?? 0)) return number - (right[at] ?? 0)
  return 0
}
