import type { ArchivedHome, HomeArchive, HomeOutcome } from '#/engines/home-archive.ts'
import type { HomeContents } from '#/engines/runtime.ts'
import { NothingThere, RuntimeError } from '#/engines/runtime-error.ts'
import { TarArchiveEnd } from '#/engines/tar/archive-end.ts'
import { withSendLimit, withStallLimit } from '#/engines/transport/wait-limits.ts'
import type { ClusterContext } from './cluster-context.ts'
import { execInPod, framed, lookAt, outputOf, pack, unpack } from './pod-exec.ts'
import { ensureHome, hasHome, listHomes, removeHome } from './home-volumes.ts'
import { readWithHomeHelper, withHomeHelper, type HomeHelper } from './helper-containers.ts'

/** Contents of homes through pods of the helper image. */
export function homeContents(cluster: ClusterContext): HomeContents {
  return {
    read: (volume, signal) => readHome(cluster, volume, signal),
    add: async (volume, archive, signal) => {
      if (!(await hasHome(cluster, volume))) throw new RuntimeError('missing', `write to ${volume}: it is gone`)
      await writeTo(cluster, volume, archive, signal)
    },
    discard: async (volume, name, signal) => {
      if (!(await hasHome(cluster, volume))) throw new RuntimeError('missing', `write to ${volume}: it is gone`)
      const what = `remove a folder of ${volume}`
      await withHomeHelper(cluster, volume, signal, ({ folder, ...helper }) =>
        outputOf(cluster, { ...helper, what, command: ['rm', '-rf', '--', `${folder}/${name}`], signal }),
      )
    },
    readAt: (volume, path, signal) => readHome(cluster, volume, signal, path),
    removeAt: async (volume, path, signal, isMountPoint = false) => {
      if (!(await hasHome(cluster, volume))) throw new RuntimeError('missing', `write to ${volume}: it is gone`)
      const what = `remove a path of ${volume}`
      await withHomeHelper(cluster, volume, signal, async (helper) => {
        const isFolder = await requireThere(cluster, helper, path, signal)
        if (isFolder && isMountPoint) throw new RuntimeError('conflict', `${what}: a folder at a mount point`)
        const { folder, ...where } = helper
        await outputOf(cluster, { ...where, what, command: ['rm', '-rf', '--', `${folder}/${path}`], signal })
      })
    },
  }
}

/** For backup and restore. */
export function homeArchive(cluster: ClusterContext): HomeArchive {
  return {
    homes: () => listHomes(cluster),
    read: (volume, signal) => readHome(cluster, volume, signal),
    write: async (home, archive, { signal, beforeCreate }) => {
      if (await hasHome(cluster, home.volume)) return 'exists'
      await beforeCreate()
      return restoreHome(cluster, home, archive(), signal)
    },
    removeUnfinished: async (volume) => {
      await removeHome(cluster, volume).catch((error: unknown) => {
        // In use by a container that was created since.
        if (!(error instanceof RuntimeError) || error.kind !== 'conflict') throw error
      })
    },
  }
}

/** @returns whether it is a folder @throws {NothingThere} */
async function requireThere(cluster: ClusterContext, helper: HomeHelper, path: string, signal: AbortSignal) {
  const { folder, ...where } = helper
  const what = 'look at a path of a home'
  const found = await outputOf(cluster, { ...where, what, command: lookAt(folder, path), signal })
  if (found === '') throw new NothingThere(`${what}: there is none`)
  return found === 'folder'
}

async function* readHome(
  cluster: ClusterContext,
  volume: string,
  signal: AbortSignal,
  at?: string,
): AsyncGenerator<Uint8Array> {
  // A pod would wait for ever for a claim that is gone.
  if (!(await hasHome(cluster, volume))) throw new RuntimeError('missing', `read ${volume}: it is gone`)
  const what = `read ${volume}`
  const end = new TarArchiveEnd()
  const { stall } = cluster.timeouts
  const stalled = () => new RuntimeError('failed', `${what}: nothing came for ${stall / 1_000} s`)
  const bytes = readWithHomeHelper(cluster, volume, signal, async function* (home) {
    if (at !== undefined) await requireThere(cluster, home, at, signal)
    const { folder, ...helper } = home
    const last = at === undefined ? 0 : at.lastIndexOf('/') + 1
    const command = at === undefined ? pack(folder) : pack(`${folder}/${at.slice(0, last)}`, `./${at.slice(last)}`)
    const limits = { signal, limit: stall, stalled }
    yield* withStallLimit(async (both) => execInPod(cluster, { ...helper, what, command, signal: both }), limits)
  })
  for await (const part of bytes) {
    end.pass(part)
    yield part
  }
  if (!end.hasCome) throw new RuntimeError('failed', `${what}: the archive is not complete`)
}

async function writeTo(
  cluster: ClusterContext,
  volume: string,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const what = `write to ${volume}`
  const { stall } = cluster.timeouts
  const stalled = () => new RuntimeError('failed', `${what}: it took nothing for ${stall / 1_000} s`)
  await withHomeHelper(cluster, volume, signal, ({ folder, ...helper }) =>
    withSendLimit(archive, { signal, limit: stall, stalled }, (sent, both) =>
      outputOf(cluster, { ...helper, what, command: unpack(folder), input: framed(sent), signal: both }),
    ),
  )
}

async function restoreHome(
  cluster: ClusterContext,
  { volume, owner, size }: ArchivedHome,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<HomeOutcome> {
  // One that was made for all types of a person has no type.
  const isShared = owner.type === ''
  await ensureHome(cluster, { volume, owner, size: size ?? null, isShared, storageClass: null }, signal)
  try {
    await writeTo(cluster, volume, archive, signal)
    return 'created'
  } catch (error) {
    await removeHome(cluster, volume)
    throw error
  }
}
