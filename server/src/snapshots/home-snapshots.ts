import type { Logger } from 'pino'
import pLimit from 'p-limit'
import type { SingleFlight } from '#/concurrency/single-flight.ts'
import { containerKey, type ContainerRef } from '#/containers/container-key.ts'
import { containerName, homeVolume } from '#/containers/container-name.ts'
import type { Template, Templates } from '#/containers/templates/template.ts'
import { Refusal, refusals } from '#/errors.ts'
import { message } from '#/messages/localized-message.ts'
import type { HomeContents } from '#/runtime/home-contents.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { movedArchive } from './move-archive.ts'
import type { PendingRestore, RestoreJournal } from './restore-journal.ts'
import { outdatedSnapshots } from './retention.ts'
import {
  isSnapshotId,
  SnapshotTooLarge,
  type Snapshot,
  type SnapshotFiles,
  type SnapshotReason,
} from './snapshot-files.ts'

/** Homes that are read or written at the same time. */
const maxParallel = 2
/** How long one snapshot or restore may take, in ms. */
const timeLimit = 900_000

/** Whose home it is. */
export interface HomeOwner {
  readonly id: number
  readonly slug: string
}

export interface SnapshotRules {
  readonly isOn: boolean
  /** Homes with more are not snapshotted; bytes. */
  readonly maxBytes: number
}

export interface HomeSnapshotsParts {
  readonly rules: SnapshotRules
  /** Undefined where the engine cannot read homes; then snapshots are off. */
  readonly contents: HomeContents | undefined
  readonly runtime: Pick<Runtime, 'inspect' | 'removeStopped' | 'removeHome'>
  readonly files: SnapshotFiles
  readonly journal: RestoreJournal
  readonly singleFlight: SingleFlight
  readonly installation: string
  readonly templates: Pick<Templates, 'get' | 'openTypes'>
  /** Why a user's home may not grow; undefined when it may. */
  readonly diskRefusal: (owner: HomeOwner, template: Template) => Promise<Refusal | undefined>
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/**
 * Snapshots of homes (decision 061). Each is made, and restored, in the flight of its container, so that no launch, stop or
 * other snapshot of this home runs at the same time, and only while the container's program does not run: there are never
 * two writers, and nothing changes while it is read.
 */
export class HomeSnapshots {
  readonly #parts: HomeSnapshotsParts
  readonly #limit = pLimit(maxParallel)

  constructor(parts: HomeSnapshotsParts) {
    this.#parts = parts
  }

  /** Newest first; none where snapshots are switched off. @throws {Refusal} 400 unknown type */
  async list(owner: HomeOwner, type: string): Promise<Snapshot[]> {
    this.#template(type)
    return this.#parts.rules.isOn ? this.#parts.files.list(this.#volumeOf(owner, type)) : []
  }

  /** @throws {Refusal} 400 · 409 switched off, its program runs, or the home is too large · 500 it cannot be read or stored */
  async take(owner: HomeOwner, type: string, now: Date): Promise<Snapshot> {
    this.#requireHome(type)
    return this.#exclusive(owner, type, 'snapshot', async () => {
      await this.#requireNot(owner, type, ['running', 'restarting'])
      return this.#write(owner, type, 'manual', now)
    }).catch(asRefusal)
  }

  /**
   * Before a container with another image gets the home: at most one try, which keeps no container from starting. Called in
   * the flight of the container, when the one before is stopped or gone.
   */
  async beforeImage(owner: HomeOwner, type: string, now: Date): Promise<void> {
    const { rules, log } = this.#parts
    if (!rules.isOn) return
    await this.#limit(() => this.#write(owner, type, 'image', now)).catch((error: unknown) =>
      log.warn({ err: error, user: owner.id, type }, 'a home gets another image without a snapshot'),
    )
  }

  /**
   * Puts a snapshot, or one folder or file of it, into a new folder of the home, beside what is there.
   * @param only path in the home; empty for all @returns name of the folder
   * @throws {Refusal} 400 · 404 no such snapshot or path · 409 switched off, or the container is not stopped · 500 as
   *   `take`; a part of the folder may be there then
   */
  async restore(owner: HomeOwner, type: string, id: string, only: string, now: Date): Promise<string> {
    const template = this.#requireHome(type)
    const volume = this.#volumeOf(owner, type)
    const found = isSnapshotId(id) && (await this.#parts.files.list(volume)).some((each) => each.id === id)
    if (!found) throw refusals.notFound('snapshot')
    const refusal = await this.#parts.diskRefusal(owner, template)
    if (refusal) throw refusal
    const pending = { userId: owner.id, type, volume, id, only, folder: folderAt(now) }
    return this.#exclusive(owner, type, `restore ${id} ${only}`, async () => {
      await this.#requireNot(owner, type, ['running', 'restarting', 'paused'])
      await this.#unpack(pending)
      return pending.folder
    }).catch(asRefusal)
  }

  /**
   * Makes a snapshot, then removes container and home: the next launch begins with what the image and the starter files
   * give. After a failure in between the snapshot is there, and the home is whole or gone. @throws {Refusal} as `take`
   */
  async reset(owner: HomeOwner, type: string, now: Date): Promise<Snapshot> {
    this.#requireHome(type)
    const { runtime, installation } = this.#parts
    return this.#exclusive(owner, type, 'reset', async () => {
      await this.#requireNot(owner, type, ['running', 'restarting', 'paused'])
      const made = await this.#write(owner, type, 'reset', now)
      const found = await runtime.inspect(containerName(installation, owner.slug, type))
      if (found?.owner) await runtime.removeStopped(found.id)
      await runtime.removeHome(this.#volumeOf(owner, type))
      return made
    }).catch(asRefusal)
  }

  /** @throws {Refusal} 400 · 404 */
  async remove(owner: HomeOwner, type: string, id: string): Promise<void> {
    this.#template(type)
    const volume = this.#volumeOf(owner, type)
    if (!isSnapshotId(id) || !(await this.#parts.files.list(volume)).some((each) => each.id === id))
      throw refusals.notFound('snapshot')
    await this.#exclusive(owner, type, `remove ${id}`, () => this.#parts.files.remove(volume, id))
  }

  /**
   * Goes on with restores that the death of a process has interrupted, each before anything else happens to its container.
   * Does not wait for them. @throws when the folder cannot be read
   */
  async resume(): Promise<void> {
    const { journal, singleFlight, log } = this.#parts
    for (const pending of await journal.list())
      singleFlight
        .run(containerKey(pending), `restore ${pending.id} ${pending.only}`, () =>
          this.#limit(() => this.#unpack(pending)),
        )
        .catch((error: unknown) => log.warn({ err: error, volume: pending.volume }, 'a restore could not be completed'))
  }

  async #write(owner: HomeOwner, type: string, reason: SnapshotReason, now: Date): Promise<Snapshot> {
    const { files, rules, log } = this.#parts
    const contents = this.#contents()
    const volume = this.#volumeOf(owner, type)
    const archive = contents.read(volume, AbortSignal.timeout(timeLimit))
    const made = await files.write(volume, reason, archive, { now, maxBytes: rules.maxBytes })
    for (const { id } of outdatedSnapshots(await files.list(volume), now.getTime())) await files.remove(volume, id)
    log.info({ volume, snapshot: made.id, bytes: made.bytes }, 'a snapshot of a home was made')
    return made
  }

  /** The journal first: a process that dies meanwhile goes on with it at its next start. */
  async #unpack(pending: PendingRestore): Promise<void> {
    const { files, journal } = this.#parts
    const contents = this.#contents()
    const { volume, id, folder, only } = pending
    let entries = 0
    await journal.note(pending)
    try {
      const archive = movedArchive(files.read(volume, id), folder, only, () => void entries++)
      await contents.add(volume, archive, AbortSignal.timeout(timeLimit))
    } finally {
      await journal.forget(pending)
    }
    if (entries === 0) throw refusals.notFound('path')
  }

  #exclusive<T>(owner: HomeOwner, type: string, verb: string, work: () => Promise<T>): Promise<T> {
    const owned: ContainerRef = { userId: owner.id, type }
    return this.#parts.singleFlight.run(containerKey(owned), verb, () => this.#limit(work))
  }

  /** @throws {Refusal} 409 */
  async #requireNot(owner: HomeOwner, type: string, states: readonly string[]): Promise<void> {
    const { runtime, installation } = this.#parts
    const found = await runtime.inspect(containerName(installation, owner.slug, type))
    if (found && states.includes(found.state)) throw refusals.conflict(message('snapshots.stopFirst'))
  }

  /** @throws {Refusal} 409 */
  #contents(): HomeContents {
    if (!this.#parts.contents) throw refusals.snapshotsOff()
    return this.#parts.contents
  }

  #requireHome(type: string): Template {
    const template = this.#template(type)
    if (!this.#parts.rules.isOn) throw refusals.snapshotsOff()
    if (template.home === null) throw refusals.conflict(message('snapshots.noHome'))
    return template
  }

  #template(type: string): Template {
    const { templates } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.openTypes)
    return template
  }

  #volumeOf({ id, slug }: HomeOwner, type: string): string {
    return homeVolume(this.#parts.installation, id, slug, type)
  }
}

/** Local to no time zone: the name sorts, and tells when. */
const folderAt = (now: Date) => `restored-${now.toISOString().replace(/[:.]/g, '-')}`

function asRefusal(error: unknown): never {
  if (error instanceof SnapshotTooLarge) throw refusals.conflict(message('snapshots.tooLarge'))
  if (error instanceof Refusal) throw error
  if (error instanceof RuntimeError && error.kind === 'missing') throw refusals.conflict(message('snapshots.noHomeYet'))
  throw refusals.snapshotFailed(error)
}
