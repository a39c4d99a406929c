import type { Outcome } from './attack-attempt.ts'
import type { AttackInstallation } from './attack-installation.ts'

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
  const { home, homeSize } = installation.template
  const write = async (folder: string, bytes: number) =>
    (await installation.order<{ written: number }>({ verb: 'write', folder, bytes }, signal)).written
  const isBound = homeSize !== null && homeSize <= maxHome && (await installation.host()).supportsHomeQuota
  const wanted = isBound ? homeSize + trialSize : trialSize
  const inHome = home !== null && (await write(home, wanted)) >= wanted
  const inRoot = (await write(rootFolder, trialSize)) >= trialSize
  const places = [...(inHome ? ['its home'] : []), ...(inRoot ? ['its root file system'] : [])]
  const what = `It writes to ${places.join(' and ')} without a hard limit: until the disk is nearly full, Berth only warns.`
  const fix = 'use a file system with project quotas and home_size, and read_only: true; docs/how-to/limit-disk-use.md'
  return {
    got: places.length > 0 ? [{ level: 'hint', what, fix }] : [],
    tried: `${mib(wanted)} to its home and ${mib(trialSize)} elsewhere`,
  }
}
