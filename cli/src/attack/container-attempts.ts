import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mount } from '@berth/server/engines/container-spec.ts'
import { formatCount } from '#/terminal.ts'
import type { AttackInstallation, Loot, Outcome } from './attack-installation.ts'

/** Numbers of `linux/capability.h` that Berth grants: see docs/how-to/harden-containers.md. */
const granted = new Map([
  [0, 'CHOWN'],
  [1, 'DAC_OVERRIDE'],
  [3, 'FOWNER'],
  [4, 'FSETID'],
  [5, 'KILL'],
  [6, 'SETGID'],
  [7, 'SETUID'],
  [10, 'NET_BIND_SERVICE'],
])

const lastCapability = 40

/** Files by which root in a container would be root on the host. They are opened, not written to. */
const writing = [
  '/proc/sysrq-trigger',
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/sys/kernel/uevent_helper',
  '/sys/fs/cgroup/release_agent',
  '/dev/mem',
  '/dev/sda',
  '/dev/vda',
  '/dev/nvme0n1',
]
const reading = ['/dev/kmsg', '/proc/kcore', '/dev/sda', '/dev/vda', '/dev/nvme0n1', '/dev/mem']

/** Rights beyond those of an ordinary container. */
export async function gainRights(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const { status } = await installation.order<{ status: string }>({ verb: 'describe' }, signal)
  const opened = await installation.order<{ reading: string[]; writing: string[] }>(
    { verb: 'open', reading, writing },
    signal,
  )
  const files = [...new Set([...opened.reading, ...opened.writing])]
  const { template } = installation
  return {
    got: [
      ...(files.length > 0 ? [filesOfTheHost(files)] : []),
      ...capabilityLoot(field(status, 'CapBnd'), template.capAdd),
      ...(field(status, 'Seccomp') === '0' && template.runtime === null ? [withoutSeccomp] : []),
      ...(field(status, 'NoNewPrivs') === '0' && !template.allowSetuid ? [mayGain] : []),
    ],
    tried: `capabilities, seccomp, ${new Set([...reading, ...writing]).size} files of the host`,
  }
}

const field = (status: string, name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? ''

function capabilityLoot(bounding: string, capAdd: readonly string[]): Loot[] {
  const bits = BigInt(`0x${bounding || '0'}`)
  const held = Array.from({ length: lastCapability + 1 }, (_, at) => at).filter((at) => (bits >> BigInt(at)) & 1n)
  const more = held.filter((at) => !granted.has(at))
  if (more.length === 0) return []
  const isWanted = more.length <= capAdd.length
  return [
    {
      level: isWanted ? 'warning' : 'critical',
      what: isWanted
        ? `It has more capabilities than Berth grants by itself: ${capAdd.join(', ')} (cap_add of the template).`
        : `It has ${more.length} capabilities more than Berth grants (numbers ${more.join(', ')}).`,
      fix: 'remove cap_add from the template, or use a sandbox: docs/how-to/harden-containers.md',
    },
  ]
}

const filesOfTheHost = (files: readonly string[]): Loot => ({
  level: 'critical',
  what: `It opens files by which it reaches the host: ${files.join(', ')}.`,
  fix: 'look at the engine for privileged defaults; docs/how-to/harden-containers.md',
})

const withoutSeccomp: Loot = {
  level: 'critical',
  what: 'It runs without a seccomp profile, and reaches all system calls of the kernel.',
  fix: 'remove "seccomp-profile": "unconfined" from /etc/docker/daemon.json; then: systemctl restart docker',
}

const mayGain: Loot = {
  level: 'warning',
  what: 'Its programs may gain privileges by setuid, although the template does not allow it.',
  fix: 'look at the engine’s runtime: it ignores no-new-privileges',
}

/**
 * Folders of the host that other templates mount below one that it may write to: it puts a link in the place of such a folder, and
 * the next start of the other container mounts where the link leads.
 */
export async function swapMounts(
  { config, template, order }: Pick<AttackInstallation, 'config' | 'template' | 'order'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const all = config.templates.all().flatMap(({ mounts }) => mounts.flatMap(folderOfHost))
  const places = template.mounts.flatMap((mount) => {
    const [own] = folderOfHost(mount)
    if (own === undefined || mount.readOnly) return []
    const below = all.filter((source) => source.startsWith(`${own.replace(/\/$/, '')}/`))
    return below.map((source) => ({
      source,
      folder: path.dirname(path.join(mount.target, path.relative(own, source))),
    }))
  })
  const { made } = await order<{ made: string[] }>(
    { verb: 'link', folders: places.map(({ folder }) => folder) },
    signal,
  )
  const swapped = [...new Set(places.filter(({ folder }) => made.includes(folder)).map(({ source }) => source))]
  const what = `It can put a link in the place of folders that other templates mount (${swapped.join(', ')}), and so have any file of this host mounted.`
  const fix = 'mount what it writes to beside the other folder, not above it, or with read_only: true'
  return {
    got: swapped.length === 0 ? [] : [{ level: 'critical', what, fix }],
    tried: places.length === 0 ? 'no template mounts what it may write above' : formatCount(places.length, 'folder'),
  }
}

const folderOfHost = ({ source }: Mount): string[] => ('path' in source ? [path.normalize(source.path)] : [])

const sockets = [
  '/var/run/docker.sock',
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/podman/podman.sock',
  '/host/var/run/docker.sock',
]

/** Sockets of the engine inside the container: each is root on the host. */
export async function useEngine(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const targets = sockets.map((socket) => ({ socket }))
  const answers = await installation.order<(string | null)[]>({ verb: 'connect', targets }, signal)
  const reached = sockets.filter((_, at) => answers[at] !== null)
  const what = `It reached the engine at ${reached.join(', ')}: it is root on this host.`
  const fix =
    'no part of Berth mounts it: look for a plugin or a default of the engine that does; docker inspect the container'
  return { got: reached.length === 0 ? [] : [{ level: 'critical', what, fix }], tried: `${sockets.length} sockets` }
}

/** Connections that a hostile container tries. */

interface Target {
  readonly host: string
  readonly port: number
}

/** Max containers and addresses that are tried. */
const [maxNeighbours, maxAddresses] = [40, 12]

const nameOf = ({ host, port }: Target) => `${host}:${port}`
const hostRulesFix = 'set the rules of the host: docs/how-to/set-host-rules.md; then: berth doctor attack'

/** Other containers, on its own network and on all others of the engine. */
export async function reachNeighbours(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const neighbours = (await installation.neighbours()).slice(0, maxNeighbours)
  const targets = neighbours.map(({ address, port }) => ({ host: address, port }))
  const answering = await tryHere(targets)
  if (!answering.some(Boolean)) throw new Error('no other container answers this machine, so nothing can be compared')
  const reached = await tryThere(installation, targets, signal)
  return {
    got: lootOf(
      reached,
      (names) => `It reached other containers (${names}): a user can attack the applications of others.`,
    ),
    tried: formatCount(targets.length, 'other container'),
  }
}

/** Services of the host, at each of its addresses: one that is opened for this, Berth, the engine's ports, SSH. */
export async function reachHost(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const service = createServer((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\n')).listen(0, '0.0.0.0')
  await once(service, 'listening', { signal })
  try {
    const opened = (service.address() as AddressInfo).port
    const { routes } = await installation.order<{ routes: string }>({ verb: 'describe' }, signal)
    const hosts = [...new Set([...gatewaysIn(routes), ...ownAddresses()])].slice(0, maxAddresses)
    const ports = [opened, installation.config.port || 8080, 2375, 2376, 22]
    const targets = hosts.flatMap((host) => ports.map((port) => ({ host, port })))
    const reached = await tryThere(installation, targets, signal)
    const what = (names: string) => `It reached services of this host (${names}), and so whatever listens here.`
    return { got: lootOf(reached, what), tried: `${hosts.length} addresses of the host, ${ports.length} ports each` }
  } finally {
    service.close()
  }
}

/** Where clouds tell a machine its secrets. */
const metadata: readonly Target[] = [
  { host: '169.254.169.254', port: 80 },
  { host: '169.254.170.2', port: 80 },
  { host: 'fd00:ec2::254', port: 80 },
]

/** Addresses of the cloud's metadata service. */
export async function reachMetadata(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const reached = await tryThere(installation, metadata, signal)
  const what = (names: string) =>
    `It reached the metadata service of the cloud (${names}), which may tell it keys of the machine.`
  return { got: lootOf(reached, what), tried: metadata.map(({ host }) => host).join(', ') }
}

function lootOf(reached: readonly Target[], what: (names: string) => string): Loot[] {
  if (reached.length === 0) return []
  const names = reached.slice(0, 4).map(nameOf).join(', ')
  return [{ level: 'critical', what: what(reached.length > 4 ? `${names}, ...` : names), fix: hostRulesFix }]
}

async function tryThere(
  installation: AttackInstallation,
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<Target[]> {
  const answers = await installation.order<(string | null)[]>({ verb: 'connect', targets }, signal)
  return targets.filter((_, at) => answers[at] !== null)
}

/** Whether each takes a connection from this machine. */
const tryHere = (targets: readonly Target[]) =>
  Promise.all(
    targets.map(async ({ host, port }) => {
      const socket = connect(port, host)
      const isMade = await Promise.race([
        once(socket, 'connect').then(
          () => true,
          () => false,
        ),
        sleep(1_500, false, { ref: false }),
      ])
      socket.destroy()
      return isMade
    }),
  )

/** Gateways in `/proc/net/route`: hexadecimal, in the byte order of the machine, which is little-endian. */
const gatewaysIn = (routes: string) =>
  [...routes.matchAll(/^\S+\s+00000000\s+([0-9A-F]{8})/gm)].map(([, hex = '']) =>
    [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.'),
  )

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).flatMap(({ family, address, internal }) => (family === 'IPv4' && !internal ? address : [])),
  )
}

/** What one container could use up for all others. Limits are exhausted; what has none is only looked at. */

interface Limits {
  readonly memoryLimit: string
  readonly processLimit: string
  readonly maxProcessId: string
}

const MiB = 1024 ** 2
/** Above this number processes are not started, but the limit is believed. */
const maxProcesses = 4_000
/** Memory of the host that stays free while the container takes its own. */
const reserve = 512 * MiB
/** Share of the host above which a limit is none. */
const tooMuch = 0.9
/** Bytes that are written to see whether they can be. */
const trialSize = 64 * MiB
/** On the root file system; `/tmp` is in memory when that is read-only. */
const rootFolder = '/attack'
/** A home's limit up to which it is exceeded. */
const maxHome = 1024 * MiB

const mib = (bytes: number) => `${Math.round(bytes / MiB)} MiB`

/** Processes, which the whole host has a number of. */
export async function exhaustProcesses(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const limits = await installation.order<Limits>({ verb: 'describe' }, signal)
  const [limit, all] = [Number(limits.processLimit.trim() || NaN), Number(limits.maxProcessId)]
  if (!(limit < all * tooMuch)) {
    const what = `One container may start as many processes as the host has (${limits.processLimit.trim() || 'no limit is set'} of ${all}).`
    return { got: [{ level: 'critical', what, fix: 'set a smaller pids in the template, e.g. pids: 512' }], tried: '' }
  }
  if (limit > maxProcesses) return { got: [], tried: `its limit of ${limit} of ${all} processes was not exhausted` }
  const order = { verb: 'fork', max: limit + 100 }
  const forked = installation.order<{ started: number | null }>(order, signal)
  // A small memory may be used up first, which ends the container.
  const { started } = await forked.catch(() => ({ started: undefined }))
  if (started === undefined) return { got: [], tried: `it ended before it had ${limit} processes` }
  if (started === null) throw new Error('this machine has no program "sleep" to start')
  const what = `It started ${started} processes, although its limit is ${limit}.`
  const fix = 'the engine does not enforce limits: use a kernel with cgroups (docker info names what is missing)'
  return { got: started > limit ? [{ level: 'critical', what, fix }] : [], tried: `it stopped at ${started} processes` }
}

/** Memory. The host's own is safe: without a limit nothing is taken. */
export async function exhaustMemory(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const { memoryLimit } = await installation.order<Limits>({ verb: 'describe' }, signal)
  const { memory } = await installation.host()
  const limit = Number(memoryLimit.trim() || NaN)
  if (memory === null) throw new Error('the memory of the engine’s machine is not known here')
  if (!(limit < memory.total * tooMuch)) {
    const what = `One container may take all memory of this host (its limit: ${Number.isFinite(limit) ? mib(limit) : 'none'} of ${mib(memory.total)}).`
    return {
      got: [{ level: 'critical', what, fix: 'set a smaller memory in the template, e.g. memory: 2g' }],
      tried: '',
    }
  }
  if (memory.available < limit + reserve)
    return {
      got: [],
      tried: `its limit of ${mib(limit)} was not exhausted: this host has only ${mib(memory.available)} left`,
    }
  const order = { verb: 'allocate', bytes: limit + 256 * MiB }
  const { taken, isKilled } = await installation.order<{ taken: number; isKilled: boolean }>(order, signal)
  const what = `It took ${mib(taken)}, although its limit is ${mib(limit)}.`
  const fix = 'the engine does not enforce limits: use a kernel with cgroups (docker info names what is missing)'
  return { got: isKilled ? [] : [{ level: 'critical', what, fix }], tried: `it was killed at ${mib(taken)}` }
}

/** Disk: its home and its own root file system. */
export async function exhaustDisk(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const { home, homeSize, layerSize } = installation.template
  const write = async (folder: string, bytes: number) =>
    (await installation.order<{ written: number }>({ verb: 'write', folder, bytes }, signal)).written
  const { supportsHomeQuota, supportsLayerLimit } = await installation.host()
  const beyond = (limit: number | null, isBound: boolean) =>
    limit !== null && limit <= maxHome && isBound ? limit + trialSize : trialSize
  const [wanted, elsewhere] = [beyond(homeSize, supportsHomeQuota), beyond(layerSize, supportsLayerLimit)]
  const inHome = home !== null && (await write(home, wanted)) >= wanted
  const inRoot = (await write(rootFolder, elsewhere)) >= elsewhere
  const places = [...(inHome ? ['its home'] : []), ...(inRoot ? ['its root file system'] : [])]
  const what = `It writes to ${places.join(' and ')} without a hard limit: until the disk is nearly full, Berth only warns.`
  const fix =
    'use a file system with project quotas, home_size, and layer_size or read_only: true; docs/how-to/limit-disk-use.md'
  return {
    got: places.length > 0 ? [{ level: 'hint', what, fix }] : [],
    tried: `${mib(wanted)} to its home and ${mib(elsewhere)} elsewhere`,
  }
}
