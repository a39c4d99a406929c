import { randomBytes } from 'node:crypto'
import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer } from '#/accounts/administrator-changes.ts'
import { Unfinished, type Task } from '#/containers/reconcile/reconciler.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  dropGroupFolder,
  findFolderGroup,
  forgetFolder,
  listContainersWithFolder,
  listDueFolders,
  setGroupFolder,
  takeGroupFolder,
  type GroupFolder,
} from '#/store/group-folders.ts'
import type { CountedGroup } from '#/store/groups.ts'
import { notKept, notKeptUntil } from '#/store/removals.ts'
import type { GroupDirectory } from '#/templates/group-directory.ts'
import { requireGroup, requireManaged } from './managed-group.ts'

export interface GroupFoldersParts {
  readonly database: Database
  readonly directory: Pick<GroupDirectory, 'refresh'>
  readonly runtime: Pick<Runtime, 'removeFolder' | 'inspectId' | 'removeStopped'>
  /** Name of this installation; begins the names of folders. */
  readonly installation: string
  /** Whether a date can be relied on. */
  readonly isSettled: (now: Date) => boolean
  /** Asks for a run of the task. */
  readonly activate: () => void
}

/** Folders removed in one run of the task; the others follow in the next. */
const maxPerRun = 20

/** The folders of groups: set and taken away by managers; what is in them outlives that. */
export class GroupFolders {
  readonly #parts: GroupFoldersParts

  constructor(parts: GroupFoldersParts) {
    this.#parts = parts
  }

  /**
   * A folder that the group has, or had, gets this name and these rights; what is in it stays.
   * @throws {Refusal} 403 · 404 · 409 another group's folder has the name
   */
  async set(
    actor: Actor,
    groupId: number,
    wanted: Pick<GroupFolder, 'name' | 'members'>,
    now: Date,
  ): Promise<CountedGroup> {
    const { database, directory } = this.#parts
    const group = await database.transaction(async (tx) => {
      await database.lock(tx, 'groups')
      const found = await requireManaged(tx, actor, groupId)
      const holder = await findFolderGroup(tx, wanted.name)
      if (holder !== undefined && holder !== groupId) throw refusals.conflict(message('groups.folderNameTaken'))
      const folder = await setGroupFolder(tx, groupId, { ...wanted, volume: this.#newVolume(groupId) })
      const [before, after] = [{ folder: told(found.folder) }, { folder: told(folder) }]
      if (JSON.stringify(before) !== JSON.stringify(after))
        await insertAuditEntries(tx, [
          { at: now, actor, action: 'group.set-folder', target: `group:${groupId}`, before, after },
        ])
      return { ...found, folder }
    })
    await directory.refresh()
    return group
  }

  /**
   * @param isPurge removes what is in it, for administrators alone; also of one that was taken away
   * @throws {Refusal} 403 · 404 also without a folder
   */
  async remove(actor: Actor, groupId: number, isPurge: boolean, now: Date): Promise<void> {
    const { database, directory, activate } = this.#parts
    const work = async (tx: Parameters<Parameters<typeof administer>[2]>[0]) => {
      await database.lock(tx, 'groups')
      const { folder } = isPurge ? await requireGroup(tx, groupId) : await requireManaged(tx, actor, groupId)
      const isThere = isPurge ? await dropGroupFolder(tx, groupId, notKept) : folder !== null
      if (!isThere) throw refusals.groupNotFound('folder')
      if (!isPurge) await takeGroupFolder(tx, groupId)
      const [detail, before] = [{ purge: isPurge }, { folder: told(folder) }]
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'group.remove-folder', target: `group:${groupId}`, detail, before },
      ])
    }
    await (isPurge ? administer(database, actor, work) : database.transaction(work))
    await directory.refresh()
    if (isPurge) activate()
  }

  /** Removes folders that were purged, and those of deleted groups after their retention, once no container runs with them. */
  get task(): Task {
    let after = ''
    return {
      name: 'folders of groups',
      run: async (now) => {
        const { database, isSettled } = this.#parts
        const due = await listDueFolders(database.db, isSettled(now) ? now : notKeptUntil, maxPerRun, after)
        // Folders that stay because they are in use must not keep the others from their turn.
        after = due.length < maxPerRun ? '' : (due.at(-1) ?? '')
        const failures: unknown[] = []
        let removed = 0
        for (const volume of due)
          await this.#removeOne(volume).then(
            (isDone) => (removed += Number(isDone)),
            (error: unknown) => failures.push(error),
          )
        if (failures.length > 0) throw new Unfinished(failures)
        return due.length === 0 ? {} : { removed }
      },
    }
  }

  /** @returns false while a container runs with it */
  async #removeOne(volume: string): Promise<boolean> {
    const { database, runtime } = this.#parts
    // A stopped one is made anew at its next start anyway: its folders are others by now.
    for (const id of await listContainersWithFolder(database.db, volume)) {
      const found = await runtime.inspectId(id)
      if (found?.owner && ['created', 'exited', 'dead'].includes(found.state)) await runtime.removeStopped(found.id)
    }
    try {
      await runtime.removeFolder(volume)
    } catch (error) {
      if (error instanceof RuntimeError && error.kind === 'conflict') return false
      throw error
    }
    await forgetFolder(database.db, volume)
    return true
  }

  /** A part is random: ids of groups are assigned again when an older store is restored. */
  #newVolume(groupId: number): string {
    return `${this.#parts.installation}-folder-${groupId}-${randomBytes(5).toString('hex')}`
  }
}

const told = (folder: GroupFolder | null) => folder && { name: folder.name, members: folder.members }
