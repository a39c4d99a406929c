import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { homeOwner, type ArchiveOwner } from '#/engines/tar/move-archive.ts'
import { tarThread } from '#/engines/tar/tar-thread.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { refusals } from '#/refusals/errors.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { Templates } from '#/templates/template.ts'
import { notWritten, type HomeAccess } from './home-access.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** How long the removal of a folder that is not complete may take, in ms. */
const discardLimit = 60_000

export interface HomeRestoresParts {
  readonly access: HomeAccess
  readonly singleFlight: SingleFlight
  readonly templates: Pick<Templates, 'get'>
  /** Archives by where they come from. */
  readonly files: Readonly<Record<PendingRestore['from'], SnapshotFiles>>
  readonly journal: RestoreJournal
  /** Stored before anything is written into the home. */
  readonly beforeWrite: (owned: ContainerRef) => Promise<void>
  readonly log: Pick<Logger, 'warn'>
}

/** Unpacks archives into new folders of homes: whole, or not at all, also when the process dies meanwhile. */
export class HomeRestores {
  readonly #parts: HomeRestoresParts

  constructor(parts: HomeRestoresParts) {
    this.#parts = parts
  }

  /**
   * To be called in `HomeAccess.run`. The journal has it first: a process that dies meanwhile goes on with it at its next
   * start. After a failure the folder is missing or an empty file; where the engine did not make it one, the journal keeps
   * the entry, with which `complete` goes on.
   * @param hasBegun whether a part may be there from before
   * @throws {Refusal} 404 the archive has no such path: nothing was written · 500 a part is left @throws {RuntimeError} · when
   *   the archive cannot be read
   */
  async unpack(pending: PendingRestore, hasBegun = false): Promise<void> {
    const { journal, beforeWrite } = this.#parts
    const progress = { hasBegun }
    await beforeWrite(pending)
    await journal.note(pending)
    crashPoint('home-restore.after-note')
    try {
      await this.#add(pending, progress)
      crashPoint('home-restore.after-add')
    } catch (error) {
      if (progress.hasBegun && !(await this.#discard(pending))) throw refusals.restoreUnfinished(error)
      await this.#forget(pending)
      throw error
    }
    await this.#forget(pending)
  }

  /** At a start: removes what a process that was killed has left, then as `complete`. @throws when a folder cannot be read */
  async resume(): Promise<void> {
    const { journal, files } = this.#parts
    for (const each of Object.values(files)) await each.removeUnfinished()
    // An upload that was received whole and not noted: its sender has had no answer.
    const noted = new Set((await journal.list()).map(({ volume, id }) => `${volume} ${id}`))
    for (const volume of await files.upload.volumes()) {
      const left = await files.upload.list(volume)
      for (const { id } of left) if (!noted.has(`${volume} ${id}`)) await files.upload.remove(volume, id)
      if (!left.some(({ id }) => noted.has(`${volume} ${id}`))) await files.upload.removeAll(volume)
    }
    await this.complete()
  }

  /**
   * Goes on with what was interrupted by the death of a process or by an engine that did not answer, each before anything else
   * happens to its container. Does not wait for the homes. @throws when the journal cannot be read
   */
  async complete(): Promise<void> {
    const { journal, singleFlight, log } = this.#parts
    for (const pending of await journal.list())
      singleFlight
        .run(containerKey(pending), `complete ${pending.folder}`, () => this.#completeOne(pending))
        .catch((error: unknown) => log.warn({ err: error, volume: pending.volume }, 'a restore could not be completed'))
  }

  async #completeOne(pending: PendingRestore): Promise<void> {
    const { access, journal } = this.#parts
    const owner = { id: pending.userId, slug: pending.slug }
    await access.alone(owner, pending.type, () =>
      access.runNext(owner, async () => {
        const isOpen = (await journal.list()).some(({ volume, folder }) => isSame(pending, volume, folder))
        // While a program with this home runs it waits.
        if (isOpen && (await access.isIdle(owner, pending.type, notWritten))) await this.unpack(pending, true)
      }),
    )
  }

  async #add(
    { volume, id, only, folder, type, from, owner: known }: PendingRestore,
    progress: Progress,
  ): Promise<void> {
    const { access, files, templates } = this.#parts
    const signal = access.timeLimit()
    const home = templates.get(type)?.home ?? '/home'
    const owner = known ?? (from === 'upload' ? await homeOwner(access.contents, volume, signal) : undefined)
    const { isThere, elsewhere } = await tarThread.partOf(files[from].read(volume, id), only)
    if (!isThere) throw refusals.notFound('path')
    const moved = tarThread.move(files[from].read(volume, id), { folder, only, home, elsewhere, owner })
    await access.contents.add(volume, noting(moved, progress), signal)
  }

  /** Never throws. @returns whether nothing of the folder is left */
  async #discard({ volume, folder }: PendingRestore): Promise<boolean> {
    const { access, log } = this.#parts
    try {
      await access.contents.discard(volume, folder, AbortSignal.timeout(discardLimit))
      return true
    } catch (error) {
      if (error instanceof RuntimeError && error.kind === 'missing') return true
      log.warn({ err: error, volume, folder }, 'a part of a restored folder is left; it is completed later')
      return false
    }
  }

  async #forget(pending: PendingRestore): Promise<void> {
    const { journal, files } = this.#parts
    await journal.forget(pending)
    if (pending.from === 'upload') await files.upload.remove(pending.volume, pending.id)
  }
}

/** Names the work in the flight of its container. */
export const restoreVerb = ({ id, only }: Pick<PendingRestore, 'id' | 'only'>) => `restore ${id} ${only}`

const isSame = (pending: PendingRestore, volume: string, folder: string) =>
  pending.volume === volume && pending.folder === folder

/** How far one archive is on its way into a home. */
interface Progress {
  /** Whether the engine may have written something. */
  hasBegun: boolean
}

async function* noting(archive: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const part of archive) {
    progress.hasBegun = true
    yield part
    crashPoint('home-restore.in-archive')
  }
}

/** An archive whose way into a home has begun. */
export interface PendingRestore extends ContainerRef {
  readonly slug: string
  readonly volume: string
  readonly from: 'snapshot' | 'upload'
  readonly id: string
  /** Path in the home that is restored; empty for all. */
  readonly only: string
  /** Name of the new folder in the home. */
  readonly folder: string
  /** Owner of the home, to whom all of an upload belongs; a note of an earlier version has none. */
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
      // A restore that was forgotten meanwhile has no text.
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
