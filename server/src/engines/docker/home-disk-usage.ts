import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { listHomes, type Volume } from './home-volumes.ts'
import { withSignal } from '#/engines/transport/with-signal.ts'

/** Polling interval while another measurement runs, in ms. */
const retryInterval = 1_000
/** How long a file system may take to say how full it is, in ms. */
const statTimeout = 1_000
/** How far the size that a file system tells of a bound volume may be from what was asked for, in bytes: it counts in blocks. */
const rounding = 64 * 1024

interface Measured extends Volume {
  /** Absent where it does not look; a size of -1 where it failed, as at a path that is longer than the kernel takes. */
  readonly UsageData?: { readonly Size: number } | null
}

/**
 * Docker looks at every file of every volume, ours or not (measured: 400 volumes with 400,000 files take 2 s, and 7 s
 * when nothing of them is in memory; launches go on meanwhile), and adds up how long the files are: one with holes counts
 * in full. It stops looking when the connection is closed. It leaves out volumes that were made with options, as those
 * with a bound size are.
 */
export async function measureHomes(
  engine: EngineContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number | null>> {
  const ours = await listHomes(engine, signal)
  const bytes = await askForSizes(engine, signal)
  const sizes = await Promise.all(
    ours.map(async ({ volume, found }) => {
      const size = bytes.get(volume)
      return [volume, size ?? (await usedUnderQuota(engine, found)) ?? size] as const
    }),
  )
  return new Map(sizes.filter((each): each is readonly [string, number | null] => each[1] !== undefined))
}

/** Engines before API 1.42 do not know `type`; they ignore it and look at images and containers as well. */
async function askForSizes(
  { client }: EngineContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number | null>> {
  const [what, path, query] = ['measure volumes', '/system/df', { type: 'volume' }]
  const end = performance.now() + callTimeouts.measureHomes
  for (;;) {
    try {
      const timeout = Math.max(1, end - performance.now())
      const call = { what, method: 'GET', path, query, timeout, kind: 'stream', signal } as const
      const { Volumes } = await client.ask<{ Volumes: readonly Measured[] | null }>(call)
      return new Map(
        (Volumes ?? []).flatMap(({ Name, UsageData }) =>
          UsageData ? [[Name, UsageData.Size >= 0 ? UsageData.Size : null]] : [],
        ),
      )
    } catch (error) {
      if (!isAnotherMeasuring(error) || performance.now() > end) throw error
      await withSignal(sleep(retryInterval), signal)
    }
  }
}

/** Docker 20.10 measures for one at a time and answers 500 to all others; later ones share what is under way. */
const isAnotherMeasuring = (error: unknown) =>
  error instanceof RuntimeError && /disk usage operation is already running/i.test(String(error.cause))

/**
 * The file system tells of a folder with a quota how much is left of that; of one without, how full the whole disk is.
 * @returns bytes; undefined when it has no quota, or cannot be seen from here
 */
async function usedUnderQuota(
  { isLocal }: EngineContext,
  { Mountpoint, Options }: Volume,
): Promise<number | undefined> {
  const size = Number(Options?.size)
  if (!isLocal || !Mountpoint || !(size > 0)) return undefined
  try {
    const { bsize, blocks, bfree } = await withSignal(statfs(Mountpoint), AbortSignal.timeout(statTimeout))
    return Math.abs(blocks * bsize - size) <= rounding ? (blocks - bfree) * bsize : undefined
  } catch {
    return undefined
  }
}
