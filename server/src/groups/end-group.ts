import type { Actor } from '#/accounts/actor.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { setGroupEnd, type CountedGroup } from '#/store/groups.ts'
import { isExpired, type GroupDirectory } from '#/templates/group-directory.ts'
import { requireManaged } from './group-rights.ts'

/** The end of a group by its managers; an administrator can move it. */
export class EndGroup {
  readonly #database: Database
  readonly #directory: Pick<GroupDirectory, 'refresh'>
  readonly #cancelStarts: (groupId: number) => void

  /** @param cancelStarts cancels starts of this group that are under way */
  constructor(database: Database, directory: Pick<GroupDirectory, 'refresh'>, cancelStarts: (groupId: number) => void) {
    this.#database = database
    this.#directory = directory
    this.#cancelStarts = cancelStarts
  }

  /** Its containers stop within 30 s, homes stay. A group that has ended stays as it is. @throws {Refusal} 404 · 403 */
  async run(actor: Actor, groupId: number, now: Date): Promise<CountedGroup> {
    const ended = await this.#database.transaction(async (tx) => {
      const group = await requireManaged(tx, actor, groupId)
      if (isExpired(group, now)) return group
      await setGroupEnd(tx, groupId, now)
      const [before, after] = [{ expires_at: group.expiresAt }, { expires_at: now }]
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.end', target: `group:${groupId}`, before, after }])
      return { ...group, expiresAt: now }
    })
    this.#cancelStarts(groupId)
    await this.#directory.refresh()
    return ended
  }
}
