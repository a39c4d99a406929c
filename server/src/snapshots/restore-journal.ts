import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ContainerRef } from '#/containers/container-key.ts'

/** A restore into a home that has begun. */
export interface PendingRestore extends ContainerRef {
  readonly volume: string
  /** Of the snapshot. */
  readonly id: string
  /** Path in the home that is restored; empty for all. */
  readonly only: string
  /** Name of the new folder in the home. */
  readonly folder: string
}

/** Restores that have begun and have not ended, a file each: unpacking again into the same folder completes one. */
export class RestoreJournal {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async note(pending: PendingRestore): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await writeFile(this.#fileOf(pending), JSON.stringify(pending), { mode: 0o600, flush: true })
  }

  async forget(pending: PendingRestore): Promise<void> {
    await rm(this.#fileOf(pending), { force: true })
  }

  async list(): Promise<PendingRestore[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const texts = await Promise.all(names.map((name) => readFile(path.join(this.#folder, name), 'utf8')))
    return texts.flatMap(pendingIn)
  }

  #fileOf({ volume }: PendingRestore): string {
    return path.join(this.#folder, `${volume}.json`)
  }
}

/** A file that was being written when the power failed is none. */
function pendingIn(text: string): PendingRestore[] {
  try {
    return [JSON.parse(text) as PendingRestore]
  } catch {
    return []
  }
}
