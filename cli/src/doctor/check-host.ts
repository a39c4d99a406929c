import { execFile } from 'node:child_process'
import { readFile, statfs } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { databaseClock } from '@berth/server/store/check-store.ts'
import { TemplateSources } from '@berth/server/templates/template-sources.ts'
import type { Template } from '@berth/server/templates/template.ts'
import { settingFix, type CheckContext, type Finding } from './check.ts'

/** Whether the engine answers, keeps its own protections on, and has no known way out of a container. */
export async function checkEngine({ engine }: CheckContext): Promise<Finding[]> {
  let report
  try {
    // A machine that is busy, with the start of this very process for one, may owe the first answer.
    report = await engine.report().catch(() => engine.report())
  } catch (error) {
    return [notAnswering(error as Error)]
  }
  const { address, versions, securityOptions } = report
  const isSecured = securityOptions.some((each) => /^name=seccomp\b/.test(each) && !/unconfined/.test(each))
  return [
    ...Object.entries(versions).flatMap(([component, version]) => vulnerabilitiesOf(component, version)),
    ...(isSecured || securityOptions.length === 0 ? [] : [withoutSeccomp]),
    ...(/^(tcp|http):/.test(address) && !/\/\/(localhost|127\.|\[::1\])/.test(address) ? [openEngine(address)] : []),
  ]
}

const notAnswering = ({ message, cause }: Error): Finding => ({
  level: 'critical',
  what: `The engine does not answer (${cause instanceof Error ? cause.message : message}): no container can be started or reached.`,
  fix: 'systemctl start docker; and set DOCKER_HOST if its socket is elsewhere',
})

const withoutSeccomp: Finding = {
  level: 'critical',
  what: 'The engine runs containers without its seccomp profile: they reach parts of the kernel that it closes.',
  fix: 'remove "seccomp-profile": "unconfined" from /etc/docker/daemon.json; then: systemctl restart docker',
}

const openEngine = (address: string): Finding => ({
  level: 'critical',
  what: `The engine is asked at ${address} without TLS: every program that reaches this address is root on its machine.`,
  fix: 'run Berth beside the engine and set DOCKER_HOST=unix:///var/run/docker.sock, or use https:// with a client certificate in a proxy',
})

const guide = 'docs/how-to/set-host-rules.md'

/**
 * Whether rules keep containers away from the host, from each other and from the cloud's metadata. The running service
 * knows; without one this process looks, which needs the same rights.
 */
export async function checkHostRules({ config, service, engine }: CheckContext): Promise<Finding[]> {
  if (config.hostRules === 'off') {
    const isSet = await engine.hostRules().then(
      ({ areSet }) => areSet,
      () => false,
    )
    return isSet ? [] : [switchedOff]
  }
  const report = typeof service === 'object' ? service : null
  if (report && report.host.rules !== 'not known')
    return report.host.rules === 'set' ? [] : [missing(report.host.rules.replace(/^not set: /, ''))]
  const rules = await engine.hostRules().catch((error: unknown) => {
    // It may look at rules that an operator who is not root may not.
    throw report ? new Error('Berth runs, and has not looked at them yet: try again in half a minute') : error
  })
  if (rules.areSet) return []
  if (service === null)
    return [{ ...missing(rules.reason), fix: 'start Berth as root or with CAP_NET_ADMIN: it sets them' }]
  return [missing(rules.reason)]
}

const switchedOff: Finding = {
  level: 'warning',
  what: 'HOST_RULES=off: unless you have set them yourself, containers reach services of this host and its cloud metadata.',
  fix: `${settingFix('HOST_RULES=auto')}; or set them yourself (${guide}) and check them by: berth doctor attack`,
}

const missing = (reason: string): Finding => ({
  level: 'critical',
  what: `The rules of the host are not set (${reason}): containers reach services of this host and its cloud metadata.`,
  fix: `give Berth CAP_NET_ADMIN (systemd: AmbientCapabilities=CAP_NET_ADMIN), or set them yourself: ${guide}`,
})

/** Images that Berth builds on this machine; no registry has them. */
const isDemo = (image: string) => image.startsWith('berth-demo-')

/** Whether the image of every template is on the machine, or can be pulled. */
export async function checkImages({ config, engine }: CheckContext, signal: AbortSignal): Promise<Finding[]> {
  // The image of an environment is of a version that was published, which the settings do not say.
  const named = config.templates.all().filter(({ environment }) => environment === null)
  const types = Map.groupBy(named, ({ image }) => image)
  const sources = new TemplateSources(config.sources)
  const isInRegistry = async (image: string, [first]: readonly Template[]) =>
    engine.isInRegistry(image, signal, first && sources.credentialsOf(first)?.())
  const checked = [...types].map(async ([image, templates]) => {
    if (await engine.hasImage(image)) return []
    const names = templates.map(({ type }) => type).join(', ')
    if (isDemo(image)) return [cannotBeHad(image, names, 'npm start, which builds it')]
    const isThere = await isInRegistry(image, templates).catch((error: unknown) => error as Error)
    if (isThere === true) return [willBePulled(image, names)]
    const reason = isThere === false ? 'its registry does not offer it' : 'its registry does not answer'
    return [cannotBeHad(image, `${names}; ${reason}`, `docker pull ${image}; or correct image in the template`)]
  })
  return (await Promise.all(checked)).flat()
}

const willBePulled = (image: string, types: string): Finding => ({
  level: 'hint',
  what: `The image ${image} (${types}) is not on this machine: the first launch waits until it is pulled.`,
  fix: `docker pull ${image}`,
})

const cannotBeHad = (image: string, types: string, fix: string): Finding => ({
  level: 'critical',
  what: `The image ${image} (${types}) is not on this machine and cannot be pulled: launches fail.`,
  fix,
})

const GiB = 1024 ** 3

/** Shares of the whole that are low and too low; what is low in GiB is never low on a large disk alone by its share. */
const low = { share: 0.1, bytes: 5 * GiB }
const tooLow = { share: 0.02, bytes: GiB }

/** Whether there is room, and are file numbers left, for the store and for the engine. */
export async function checkDisk({ config, engine }: CheckContext): Promise<Finding[]> {
  const rootDir = await engineFolder(engine).catch(() => undefined)
  const checked = await Promise.all([config.dataDir, ...(rootDir === undefined ? [] : [rootDir])].map(findingsOf))
  return checked.flat()
}

/** Where an engine of this machine keeps images and containers. */
async function engineFolder(engine: CheckContext['engine']): Promise<string | undefined> {
  const { address, rootDir } = await engine.report()
  return address.startsWith('unix:') && rootDir !== '' ? rootDir : undefined
}

/** Undefined for a data folder that does not exist yet, and an engine's folder that this process cannot see. */
const roomIn = (folder: string) => statfs(folder).catch(() => undefined)

async function findingsOf(folder: string): Promise<Finding[]> {
  const found = await roomIn(folder)
  if (!found) return []
  const { blocks, bavail, bsize, files, ffree } = found
  const [free, share] = [bavail * bsize, bavail / blocks]
  const inodes = files === 0 ? 1 : ffree / files
  const level = isBelow(tooLow) ? 'critical' : isBelow(low) ? 'warning' : undefined
  const room = `${(free / GiB).toFixed(1)} GiB (${Math.floor(share * 100)} %) and ${Math.floor(inodes * 100)} % of the inodes`
  return level === undefined ? [] : [fullDisk(level, folder, room)]

  function isBelow(limit: typeof low): boolean {
    return free < limit.bytes || (share < limit.share && free < 4 * limit.bytes) || inodes < limit.share
  }
}

const fullDisk = (level: 'critical' | 'warning', folder: string, room: string): Finding => ({
  level,
  what: `Only ${room} are free on the disk of ${folder}: a full disk stops the store, launches and all containers.`,
  fix: 'docker system df; docker image prune --all; and limit homes: docs/how-to/limit-disk-use.md',
})

/**
 * Whether builds of environments have the room that they may use, and whether managers can build on what is another
 * group's.
 */
export async function checkBuilds({ config, engine }: CheckContext): Promise<Finding[]> {
  const { mode, bases, limits } = config.environments
  if (mode === 'off') return []
  const findings = mode === 'managers' && bases?.includes('*') ? [anyBase] : []
  const folder = await engineFolder(engine)
  const found = folder === undefined ? undefined : await roomIn(folder)
  const free = found && found.bavail * found.bsize
  if (folder === undefined || free === undefined || free >= limits.maxSize) return findings
  return [...findings, noRoom(folder, free, limits.maxSize)]
}

const anyBase: Finding = {
  level: 'warning',
  what: 'BUILD_BASES has *: managers of any group can build on every image that the engine has or can pull with credentials of templates, and so read those of other groups.',
  fix: 'name the images in BUILD_BASES, or leave it out: then managers build on what members of their group launch',
}

const noRoom = (folder: string, free: number, needed: number): Finding => ({
  level: 'warning',
  what: `${folder} has ${(free / GiB).toFixed(1)} GiB left, and a build may take ${(needed / GiB).toFixed(1)} (BUILD_MAX_SIZE): it could leave no room for containers.`,
  fix: `${settingFix(`BUILD_MAX_SIZE=${Math.max(1, Math.floor(free / 2 / GiB))}g`)}; or make room: docker image prune`,
})

/**
 * Enough for some hundred containers. Limits count per user of the machine, and the same user runs the programs of all
 * containers; one editor takes some instances, and a watch for each folder of a project.
 */
const minInotifyLimits = { max_user_instances: 1_024, max_user_watches: 131_072 }

/** Whether containers can watch files: editors and development servers fail without ("too many open files"). */
export async function checkInotify({ proc }: CheckContext): Promise<Finding[]> {
  const read = Object.entries(minInotifyLimits).map(async ([name, wanted]) => {
    const number = Number(await readFile(path.join(proc, 'sys/fs/inotify', name), 'utf8'))
    return number < wanted ? [{ name, number, wanted: wanted * 8 }] : []
  })
  const low = (await Promise.all(read)).flat()
  if (low.length === 0) return []
  const values = low.map(({ name, number }) => `fs.inotify.${name} is ${number}`).join(', ')
  const lines = low.map(({ name, wanted }) => `fs.inotify.${name}=${wanted}`).join('\\n')
  return [
    {
      level: 'warning',
      what: `${values}, for the programs of all containers together: editors and development servers stop noticing changed files.`,
      fix: `printf '${lines}\\n' > /etc/sysctl.d/60-berth.conf && sysctl --system`,
    },
  ]
}

/** Networks that should be left: Berth needs one for some 900 containers, other programs of the host have theirs. */
const minFreeNetworks = 3

/** Whether the engine has addresses for further networks. */
export async function checkAddressPools({ engine }: CheckContext): Promise<Finding[]> {
  const { freeNetworks } = await engine.report()
  if (freeNetworks >= minFreeNetworks) return []
  return [
    {
      level: freeNetworks === 0 ? 'critical' : 'warning',
      what: `The engine has addresses for ${freeNetworks} more networks; without one launches fail when Berth needs another network.`,
      fix:
        'docker network prune; or add to /etc/docker/daemon.json: ' +
        '"default-address-pools": [{"base": "10.201.0.0/16", "size": 22}]; then: systemctl restart docker',
    },
  ]
}

/** Difference that is a finding, in ms: tokens and links of 15 minutes bear more, but it grows. */
const maxDifference = 5_000
const timeout = 3_000

/**
 * Whether the clock is right: beside those of the engine, of PostgreSQL and of the front end's proxy, and by what the kernel
 * says of NTP. One that cannot be asked is a finding of another check.
 */
export async function checkClock(
  { config, engine, addresses, now }: CheckContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  const began = performance.now()
  const read = (of: string, time: Promise<Date | null>) =>
    time.then(
      (read) => ({ of, time: read, at: performance.now() }),
      () => undefined,
    )
  const { databaseUrl } = config
  const readings = await Promise.all([
    read(
      'the engine',
      engine.report().then(({ time }) => time),
    ),
    ...(databaseUrl === null ? [] : [read('the database', databaseClock(databaseUrl))]),
    read(addresses.frontendUrl, dateOf(addresses.frontendUrl, signal)),
  ])
  const apart = readings.flatMap((reading) => {
    if (!reading?.time) return []
    const difference = reading.time.getTime() - (now.getTime() + reading.at - began)
    return Math.abs(difference) > maxDifference ? [differs(reading.of, difference)] : []
  })
  return [...apart, ...clockFindings(await timeServiceReport())]
}

/** `Date` of an answer (RFC 9110, 6.6.1), with a resolution of a second; null when there is none. */
async function dateOf(url: string, signal: AbortSignal): Promise<Date | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  try {
    const response = await fetch(`${url}/healthz`, { method: 'HEAD', redirect: 'manual', signal: limit })
    const date = new Date(response.headers.get('date') ?? '')
    return Number.isNaN(date.getTime()) ? null : date
  } catch {
    return null
  }
}

/** What systemd says of time services and the clock; empty where it says nothing. */
async function timeServiceReport(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('timedatectl', ['show'], { timeout })
    return stdout
  } catch {
    return ''
  }
}

/** What `timedatectl show` tells of a clock that no service keeps, or that the service that runs could not set yet. */
export function clockFindings(report: string): Finding[] {
  const says = (line: string) => report.split('\n').includes(line)
  if (!says('NTPSynchronized=no')) return []
  return [says('NTP=yes') ? notYetSynchronized : notSynchronized]
}

const differs = (other: string, ms: number): Finding => ({
  level: 'warning',
  what: `The clock is ${Math.round(Math.abs(ms) / 1_000)} s ${ms > 0 ? 'behind' : 'ahead of'} that of ${other}: links and sessions end too early or too late.`,
  fix: 'timedatectl set-ntp true, on both machines',
})

const notYetSynchronized: Finding = {
  level: 'warning',
  what: 'A time service runs, but has not set the clock: links, sessions and sign-ins by OpenID Connect fail when it is off.',
  fix: 'timedatectl timesync-status, or chronyc sources, says which servers do not answer; name others, or allow UDP to port 123',
}

const notSynchronized: Finding = {
  level: 'warning',
  what: 'No time service keeps the clock: links, sessions and sign-ins by OpenID Connect fail when it is off.',
  fix: 'apt-get install systemd-timesyncd && timedatectl set-ntp true',
}

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
function vulnerabilitiesOf(component: string, version: string): Finding[] {
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
