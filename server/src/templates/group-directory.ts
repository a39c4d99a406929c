import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import type { Db } from '#/store/database.ts'
import { listAllGroups, type Group } from '#/store/groups.ts'
import type { Templates } from './template.ts'

/** What is kept of all groups, from one read of the store. */
interface Snapshot {
  readonly byId: ReadonlyMap<number, Group>
  readonly names: ReadonlySet<string>
  /** Groups that end at some time, or have ended. */
  readonly ending: readonly Group[]
  readonly limited: readonly Group[]
  readonly timed: readonly Group[]
  readonly hasFolders: boolean
}

/**
 * In-memory index of the definitions of all groups, without their members: a launch that no group concerns asks the
 * store nothing. Read at the start, after each change by this process, and at each run of the reconciler, which finds
 * what another process has changed.
 */
export class GroupDirectory {
  readonly #db: Db
  readonly #mutex = new KeyedMutex()
  #snapshot: Snapshot = snapshotOf([])
  /** Whether a change was read and is not published yet: `publishBy` may have failed. */
  #isUnpublished = false
  readonly #listeners: (() => void)[] = []
  #publish: () => Promise<void> = async () => undefined

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Reads all groups. Of two reads the later one counts. @throws {StoreFailure} then those from before stay · what `publishBy`
   * throws; the next read publishes the change, and reports it, again
   */
  async refresh(): Promise<void> {
    const isChanged = await this.#mutex.run('read', async () => {
      const before = JSON.stringify([...this.#snapshot.byId.values()])
      const groups = await listAllGroups(this.#db)
      this.#snapshot = snapshotOf(groups)
      if (before !== JSON.stringify(groups)) this.#isUnpublished = true
      if (!this.#isUnpublished) return false
      // Within the lock: a change that another read has found is answered when it is published, too.
      await this.#publish()
      this.#isUnpublished = false
      return true
    })
    if (isChanged) for (const listener of this.#listeners) listener()
  }

  /** @param listener called after each read that found something else */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** @param publish awaited after each read that found something else, before `refresh` resolves; one listener */
  publishBy(publish: () => Promise<void>): void {
    this.#publish = publish
  }

  get isEmpty(): boolean {
    return this.#snapshot.byId.size === 0
  }

  /** Groups with these ids, as far as they exist. */
  find(ids: readonly number[]): Group[] {
    return ids.flatMap((id) => this.#snapshot.byId.get(id) ?? [])
  }

  hasName(name: string): boolean {
    return this.#snapshot.names.has(name)
  }

  /** Whether a group acts on this type, or is one of those that its template names. */
  concerns(type: string, named: readonly string[]): boolean {
    if (named.some((name) => this.hasName(name))) return true
    for (const group of this.#snapshot.byId.values()) if (covers(group, type)) return true
    return false
  }

  /** Whether some group ends at some time, or has ended. */
  get hasEnding(): boolean {
    return this.#snapshot.ending.length > 0
  }

  expired(now: Date): Group[] {
    return this.#snapshot.ending.filter((group) => isExpired(group, now))
  }

  get timed(): readonly Group[] {
    return this.#snapshot.timed
  }

  /** Whether some group has a folder. */
  get hasFolders(): boolean {
    return this.#snapshot.hasFolders
  }

  get limited(): readonly Group[] {
    return this.#snapshot.limited
  }
}

export const isExpired = ({ expiresAt }: Pick<Group, 'expiresAt'>, now: Date): boolean =>
  expiresAt !== null && expiresAt <= now

/** Whether limits, expiry, stops and blocks of the group act on this type. */
export const covers = ({ types }: Pick<Group, 'types'>, type: string): boolean => types === null || types.includes(type)

function snapshotOf(groups: readonly Group[]): Snapshot {
  return {
    byId: new Map(groups.map((group) => [group.id, group])),
    names: new Set(groups.map(({ name }) => name)),
    ending: groups.filter(({ expiresAt }) => expiresAt !== null),
    timed: groups.filter(({ timetable }) => timetable !== null),
    hasFolders: groups.some(({ folder }) => folder !== null),
    limited: groups.filter(({ limits }) => Object.values(limits).some((limit) => limit !== null)),
  }
}

/** Warning for the operator about groups that templates name and that do not exist; they may be made later. */
export function unknownGroupWarnings(
  templates: Pick<Templates, 'all'>,
  directory: Pick<GroupDirectory, 'hasName'>,
): LocalizedMessage[] {
  const named = new Set(templates.all().flatMap(({ groups }) => groups))
  const unknown = [...named].filter((name) => !directory.hasName(name))
  return unknown.length === 0 ? [] : [message('groups.unknownInTemplates', { names: list('comma', unknown) })]
}
