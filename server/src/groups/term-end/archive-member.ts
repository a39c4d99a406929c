import { createHash } from 'node:crypto'
import { containerName, homeVolume, sharedHome } from '#/containers/container-name.ts'
import type { ContainerRemoval, HomeLocks } from '#/containers/open-containers.ts'
import type { HomeContents, Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { DiskNearlyFull } from '#/machine/disk-room.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import {
  containerKey,
  findContainer,
  listContainersOf,
  noteStopped,
  type ContainerRef,
  type UserContainer,
} from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { deleteHomeArchive, listArchivesOf, setHomeArchive, type StoredArchive } from '#/store/home-archives.ts'
import {
  findTermEnd,
  findTermEndMember,
  type TermEnd,
  type TermEndMember,
  type TermEndProblem,
} from '#/store/term-ends.ts'
import type { ArchiveStore } from '#/homes/archive-store.ts'

/** How long one home may take, in ms. */
const timeLimit = 3_600_000

export interface ArchiveMemberParts {
  readonly database: Database
  readonly contents: HomeContents | undefined
  readonly runtime: Pick<Runtime, 'inspect'>
  readonly files: ArchiveStore
  readonly removal: Pick<ContainerRemoval, 'finishLocked'>
  readonly singleFlight: SingleFlight
  readonly homes: HomeLocks
  readonly installation: string
  /** Stops one and cancels its launch; false when it did not run. */
  readonly stop: (owned: ContainerRef) => Promise<boolean>
  /** Bytes of a home at the last measurement; undefined when it was not measured. */
  readonly bytesOf: (owner: { readonly userId: number; readonly slug: string }, type: string) => number | undefined
}

/**
 * Stops a member's containers of these types and archives their homes, each in the flight of its container, so that
 * nothing changes while it is read. Repeatable: an archive that is there, and whose container was not used since, stays.
 */
export class ArchiveMember {
  readonly #parts: ArchiveMemberParts

  constructor(parts: ArchiveMemberParts) {
    this.#parts = parts
  }

  /**
   * @throws {TermEndPaused} the disk has its reserve left alone · {RuntimeError} · when a container runs again, or a home cannot be
   *   read whole, or is larger than the room that archives have
   */
  async run(member: TermEndMember, types: readonly string[], signal: AbortSignal): Promise<void> {
    const { database, stop, singleFlight, homes } = this.#parts
    const made = await listArchivesOf(database.db, member.id)
    const ofTypes = types.filter((type) => type !== sharedHome)
    // The home that types share once all of them are stopped.
    for (const type of [...ofTypes, ...types.filter((each) => each === sharedHome)]) {
      const owned = { userId: member.userId, type }
      if (type !== sharedHome) await stop(owned)
      const before = made.find((each) => each.type === type)
      await singleFlight.run(containerKey(owned), `archive ${member.id}`, () =>
        type === sharedHome
          ? homes.alone(member, type, ({ volume }) => this.#archive(member, type, volume, before, signal))
          : this.#archiveOwn(member, type, before, signal),
      )
    }
  }

  /** Of a type that shares, the home that it had before, unless that is the one that is shared. */
  async #archiveOwn(
    member: TermEndMember,
    type: string,
    before: StoredArchive | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { homes, installation } = this.#parts
    const found = await homes.names.of(member, type)
    const { userId, slug } = member
    const left = homeVolume(installation, userId, slug, type)
    if (!found.isShared) return this.#archive(member, type, found.volume, before, signal)
    if (left !== found.volume) return this.#archive(member, type, left, before, signal)
    await this.#refuseRunning(member, type)
    await this.#noteStopped(member, type)
  }

  async #archive(
    member: TermEndMember,
    type: string,
    volume: string,
    before: StoredArchive | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { database, contents, files, removal, homes } = this.#parts
    const types = type === sharedHome ? homes.names.typesWith(type) : [type]
    if (!contents) throw new TermEndPaused('engine')
    for (const each of types) await this.#refuseRunning(member, each)
    // A part of a home is no home: of one that is being removed, the rest would replace a whole archive.
    await removal.finishLocked({ userId: member.userId, slug: member.slug, type })
    for (const each of types) await this.#noteStopped(member, each)
    const recordState = homeStateOf(await listContainersOf(database.db, member.userId), types)
    if (before?.recordState === recordState && (await files.has(before))) return
    await this.#requireRoom(member, type)
    const termEnd = await findTermEnd(database.db, member.termEndId)
    // It was deleted meanwhile: an archive would belong to none.
    if (!termEnd) return
    const archive = contents.read(volume, AbortSignal.any([signal, AbortSignal.timeout(timeLimit)]))
    const written = await files
      .write(archivesKey(termEnd), fileName(member, type), archive)
      .catch((error: unknown) => this.#nothingIfMissing(error, volume))
    if (!written) return this.#noteGone(before, recordState)
    crashPoint('term-end.after-archive')
    const now = new Date()
    const isWanted = await database.transaction(async (tx) => {
      // Cancelled meanwhile, or the account was deleted with what is kept of it.
      if ((await findTermEnd(tx, member.termEndId))?.phase === 'cancelled') return false
      if (!(await findTermEndMember(tx, member.termEndId, member.userId))) return false
      await setHomeArchive(tx, { memberId: member.id, type, ...written, recordState, now })
      return true
    })
    if (!isWanted) await files.remove(written.file)
  }

  /** Without a home, as of a container that never ran, or a home that was reset or purged: an earlier archive stays the last one. */
  async #noteGone(before: StoredArchive | undefined, recordState: string): Promise<void> {
    const { database, files } = this.#parts
    if (!before) return
    if (await files.has(before)) await setHomeArchive(database.db, { ...before, recordState, now: new Date() })
    else await deleteHomeArchive(database.db, before.id)
  }

  /** A launch that has begun before the group ended may have started it since the stop. */
  async #refuseRunning({ slug }: TermEndMember, type: string): Promise<void> {
    const { runtime, installation } = this.#parts
    const found = await runtime.inspect(containerName(installation, slug, type))
    if (found && ['running', 'restarting', 'paused'].includes(found.state))
      throw new Error(`${found.name} runs again; it is stopped at the next attempt`)
  }

  /** So that a later start shows, also of a container that had ended by itself. */
  async #noteStopped({ userId }: TermEndMember, type: string): Promise<void> {
    const { db } = this.#parts.database
    const record = await findContainer(db, userId, type)
    if (!record || (record.stoppedAt !== null && record.runningSince === null)) return
    await noteStopped(db, userId, type, new Date(), 'group-end')
  }

  /** @throws when the home, as far as its size is known, would fill the disk; {TermEndPaused} when only its reserve is left */
  async #requireRoom(member: TermEndMember, type: string): Promise<void> {
    const { files, bytesOf } = this.#parts
    const [room, bytes] = [await files.freeBytes(), bytesOf(member, type) ?? 0]
    if (room >= bytes) return
    if (room === 0) throw new TermEndPaused('disk')
    throw new ArchiveTooLarge(
      `the home of ${type} has ${bytes} bytes, and archives may take ${room} more on their disk`,
    )
  }

  /** A home that took the room of the disk by itself, which is there again without it, fails alone: others may have theirs. */
  async #nothingIfMissing(error: unknown, volume: string): Promise<undefined> {
    if (error instanceof RuntimeError && error.kind === 'missing') return
    if (!(error instanceof DiskNearlyFull) || (await this.#parts.files.freeBytes()) === 0) throw error
    // Without the cause, which would stand for the disk as a whole.
    throw new ArchiveTooLarge(`${volume} takes more than the disk of archives has room for`)
  }
}

/** What is to be archived is larger than the room that archives have; that of others may fit. */
export class ArchiveTooLarge extends Error {}

/** What of the records of the containers that have a home changes with each start of one. @param types that have it */
export const homeStateOf = (records: readonly UserContainer[], types: readonly string[]): string =>
  types.map((type) => recordStateOf(records.find((each) => each.type === type))).join(', ')

const recordStateOf = (record: UserContainer | undefined): string =>
  record === undefined
    ? 'none'
    : [record.id, record.stoppedAt?.getTime() ?? '-', record.runningSince?.getTime() ?? '-'].join(' ')

/**
 * Where its archives are. The id alone would not do: a store that is restored from a backup gives ids again, and the archives of
 * ends that the backup does not know may still be on the disk.
 */
export const archivesKey = ({ id, startedAt }: Pick<TermEnd, 'id' | 'startedAt'>): string =>
  `${id}-${startedAt.getTime()}`

/** A type may be any text. */
const fileName = ({ id }: TermEndMember, type: string) =>
  `${id}-${createHash('sha256').update(type).digest('hex').slice(0, 16)}`

/** An end of term cannot go on at the moment, and no member is the cause: nothing counts as an attempt. */
export class TermEndPaused extends Error {
  readonly problem: TermEndProblem

  constructor(problem: TermEndProblem, cause?: unknown) {
    super(`the end of a term waits: ${problem}`, { cause })
    this.name = 'TermEndPaused'
    this.problem = problem
  }
}

/** Why work failed that concerns all members alike, by the error or its causes; undefined for a failure of this member. */
export function pauseFor(error: unknown): TermEndPaused | undefined {
  if (error instanceof TermEndPaused) return error
  if (!(error instanceof Error)) return undefined
  if (isFull(error)) return new TermEndPaused('disk', error)
  if (error instanceof RuntimeError && error.kind === 'unreachable') return new TermEndPaused('engine', error)
  return pauseFor(error.cause)
}

const isFull = (error: Error) =>
  error instanceof DiskNearlyFull || ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
