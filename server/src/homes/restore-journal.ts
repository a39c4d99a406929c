import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ContainerRef } from '#/store/container-key.ts'
import type { ArchiveOwner } from './move-archive.ts'

/** An archive whose way into a home has begun. */
export interface PendingRestore extends ContainerRef {
  readonly slug: string
  readonly volume: string
  readonly from: 'snapshot' | 'upload'
  /** Of the archive. */
  readonly id: string
  /** Path in the home that is restored; empty for all. */
  readonly only: string
  /** Name of the new folder in the home. */
  readonly folder: string
  /** Of the home, to whom all of an upload belongs. One that an earlier version has noted has none. */
  readonly owner?: ArchiveOwner
}

/** Restores that have begun and have not ended, a file each: unpacking again into the same folder completes one. */
export class RestoreJournal {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Nothing to do when it is there. */
  async note(pending: PendingRestore): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await writeFile(path.join(this.#folder, nameOf(pending)), JSON.stringify(pending), { mode: 0o600, flush: true })
  }

  async forget(pending: PendingRestore): Promise<void> {
    for (const [name, each] of await this.#read())
      if (each.volume === pending.volume && each.folder === pending.folder)
        await rm(path.join(this.#folder, name), { force: true })
  }

  async list(): Promise<PendingRestore[]> {
    return (await this.#read()).map(([, pending]) => pending)
  }

  /** With the names of their files. */
  async #read(): Promise<(readonly [string, PendingRestore])[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const found = names.map(async (name) => {
      // One that was forgotten meanwhile has no text.
      const text = await readFile(path.join(this.#folder, name), 'utf8').catch(() => '')
      return pendingIn(text).map((pending) => [name, pending] as const)
    })
    return (await Promise.all(found)).flat()
  }
}

/** A home may have several. */
const nameOf = ({ volume, folder }: PendingRestore) =>
  `${createHash('sha256').update(`${volume} ${folder}`).digest('hex').slice(0, 32)}.json`

/** A file that was being written when the power failed is none. One of an earlier version has neither `from` nor `slug`. */
function pendingIn(text: string): PendingRestore[] {
  try {
    return [{ from: 'snapshot', slug: '', ...(JSON.parse(text) as Omit<PendingRestore, 'from' | 'slug'>) }]
  } catch {
    return []
  }
}
