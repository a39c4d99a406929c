import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import type { EngineContext } from './engine-context.ts'
import { findVolume, listHomesAndFolders, usedUnderQuota, volumeSizes, type Volume } from './home-volumes.ts'
import { isOfInstallation } from './labels.ts'
import { runTool } from './tool-helper.ts'

/** Volumes that one helper mounts: its start takes the engine some milliseconds for each. */
const maxMounts = 64
const what = 'measure homes'
/** Where they are in it. */
const homesFolder = '/homes'
/** Part of the time in which the tool works, in percent: of one user for a launch that waits, and of all. */
const [atOnce, paced] = [100, 20]
/** Of the kernel's weights of CPU (`cpu.shares`): the least that it knows. */
const leastShares = 2

/**
 * As `Runtime.measureHomes`. The container tool looks at every file (container-tool/du.c), of homes and folders of this installation
 * alone, in containers of its own that can write nothing. The engine's own measurement (`/system/df`) looks at all volumes
 * of the host, as quickly as the disk can: with 5 million files that are not in memory, launches took several times as long. It is asked where
 * there is no container tool for its machine. Volumes that were made with options are left out, unless that is a size that the
 * file system counts.
 */
export async function measureHomes(
  engine: EngineContext,
  signal: AbortSignal,
  userId?: number,
): Promise<ReadonlyMap<string, number | null>> {
  const { homes, folders } = await listHomesAndFolders(engine, signal, userId)
  const sizes = new Map<string, number | null>()
  const plain: string[] = []
  for (const volume of [...homes.map(({ found }) => found), ...folders]) {
    const used = await usedUnderQuota(engine.isLocal, volume)
    if (used !== undefined) sizes.set(volume.Name, used)
    else if (isPlain(volume)) plain.push(volume.Name)
  }
  if (plain.length === 0) return sizes
  const { architecture } = await engine.host.facts()
  if ((await engine.tool.mounts(architecture, signal)).length === 0) {
    const began = performance.now()
    const all = await volumeSizes(engine, signal)
    // It works all of the time, and its caller expects that a part of it is rest.
    if (userId === undefined)
      await withSignal(sleep((performance.now() - began) * (atOnce / paced - 1), undefined, { ref: false }), signal)
    for (const volume of plain) if (all.has(volume)) sizes.set(volume, all.get(volume) ?? null)
    return sizes
  }
  // The image of helpers is there then, and what a killed process left is gone.
  await engine.helpers.free('')
  const pace = userId === undefined ? paced : atOnce
  while (plain.length > 0) await measureBatch(engine, { volumes: plain.splice(0, maxMounts), pace, signal, sizes })
  return sizes
}

const isPlain = ({ Options }: Volume) => Object.keys(Options ?? {}).length === 0

interface Batch {
  readonly volumes: readonly string[]
  readonly pace: number
  readonly signal: AbortSignal
  /** Gets what is known. */
  readonly sizes: Map<string, number | null>
}

/** One helper, and another one whenever a volume is to be removed meanwhile, or the helper has had its time. */
async function measureBatch(engine: EngineContext, { volumes, pace, signal, sizes }: Batch): Promise<void> {
  const removed = new Set<string>()
  for (let left = volumes, before = Infinity; left.length > 0;) {
    if (left.length >= before)
      throw new RuntimeError('failed', `${what}: the container tool measured none of ${before}`)
    before = left.length
    const stop = new AbortController()
    const ended = Promise.withResolvers<void>()
    const release = async (volume: string) => {
      removed.add(volume)
      stop.abort()
      await ended.promise
    }
    const holder = { volumes: left, release }
    engine.measured.hold(holder)
    try {
      // The engine would make one anew that is gone.
      for (const volume of left) if (!(await isThere(engine, volume))) removed.add(volume)
      const present = left.filter((volume) => !removed.has(volume))
      const either = AbortSignal.any([signal, stop.signal])
      if (present.length > 0) await measureOnce(engine, { volumes: present, pace, signal: either, sizes })
    } catch (error) {
      if (!stop.signal.aborted || signal.aborted) throw error
    } finally {
      engine.measured.leave(holder)
      ended.resolve()
    }
    left = left.filter((volume) => !sizes.has(volume) && !removed.has(volume))
  }
}

async function isThere({ client, installation }: EngineContext, volume: string): Promise<boolean> {
  return isOfInstallation((await findVolume(client, volume))?.Labels, installation)
}

async function measureOnce(engine: EngineContext, { volumes, pace, signal, sizes }: Batch): Promise<void> {
  const mounts = volumes.map((Source, at) => ({
    Type: 'volume',
    Source,
    Target: `${homesFolder}/${at}`,
    ReadOnly: true,
    VolumeOptions: { NoCopy: true },
  }))
  const onLine = (line: string) => {
    const [, at = '', bytes = ''] = /^(\d+) (-|\d+) \d+$/.exec(line) ?? []
    const volume = volumes[Number(at)]
    if (at === '' || volume === undefined) return false
    sizes.set(volume, bytes === '-' ? null : Number(bytes))
    return true
  }
  const { exitCode, errors } = await runTool(engine, {
    what,
    task: 'du',
    args: [String(pace), homesFolder],
    // Folders of every account are listed, and no file is read.
    capabilities: ['DAC_READ_SEARCH'],
    mounts,
    limits: { CpuShares: leastShares },
    signal,
    onLine,
  })
  if (exitCode !== 0 && !volumes.some((volume) => sizes.has(volume)))
    throw new RuntimeError('failed', what, new Error(`exit code ${exitCode}: ${errors}`))
}
