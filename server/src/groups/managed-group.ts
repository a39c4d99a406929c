import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import { findGroup, localSource, setGroupEnd, type CountedGroup } from '#/store/groups.ts'
import { findUser } from '#/store/users.ts'
import { covers, isExpired, type GroupDirectory } from '#/templates/group-directory.ts'
import type { Template, Templates } from '#/templates/template.ts'

/** A type of a group, as its page shows it. */
interface ManagedType {
  readonly template: Template
  /** Whether this actor may ask members for a look at their containers of the type. */
  readonly mayAskToLook: boolean
}

/** A group with its configured types, in their order. */
export interface ManagedGroupView {
  readonly group: CountedGroup
  readonly types: readonly ManagedType[]
  /** Path in containers below which folders of groups are, by the first type that shows them; null: none does. */
  readonly folderPath: string | null
  /** Bytes of its folder at the last measurement; null while it has none, or was not measured. */
  readonly folderBytes: number | null
  /** Type in whose container this actor sees the folder; null without one, and for administrators who do not manage the group. */
  readonly folderType: string | null
}

/** A group, as its managers and administrators read it. */
export class ManagedGroup {
  readonly #db: Db
  readonly #templates: Pick<Templates, 'all'>
  readonly #isLookable: (template: Template) => boolean
  readonly #folderBytes: (volume: string) => number | undefined

  /**
   * @param isLookable whether members can be asked for a look at containers of this type
   * @param folderBytes of a volume at the last measurement
   */
  constructor(
    db: Db,
    templates: Pick<Templates, 'all'>,
    isLookable: (template: Template) => boolean,
    folderBytes: (volume: string) => number | undefined,
  ) {
    this.#db = db
    this.#templates = templates
    this.#isLookable = isLookable
    this.#folderBytes = folderBytes
  }

  /** @throws {Refusal} 404 · 403 */
  async find(actor: Pick<Actor, 'id'>, groupId: number): Promise<CountedGroup> {
    return requireManaged(this.#db, actor, groupId)
  }

  /** Administrators who do not manage the group ask for no looks. @throws {Refusal} 404 · 403 */
  async read(actor: Pick<Actor, 'id'>, groupId: number): Promise<ManagedGroupView> {
    const group = await this.find(actor, groupId)
    const role = actor.id === null ? undefined : (await findMembership(this.#db, groupId, actor.id))?.role
    const types = this.#templates
      .all()
      .filter(({ type }) => covers(group, type))
      .map((template) => ({ template, mayAskToLook: role === 'manager' && this.#isLookable(template) }))
    const showing = this.#templates.all().find(({ groupFolders }) => groupFolders !== null)
    return {
      group,
      types,
      folderPath: showing?.groupFolders ?? null,
      folderBytes: (group.folder && this.#folderBytes(group.folder.volume)) ?? null,
      folderType: group.folder && role === 'manager' ? (showing?.type ?? null) : null,
    }
  }
}

/** @throws {Refusal} 404 */
export async function requireGroup(db: Db, groupId: number): Promise<CountedGroup> {
  const group = await findGroup(db, groupId)
  if (!group) throw refusals.groupNotFound('group')
  return group
}

/**
 * The group, for its managers, administrators and the operator. Rights are over this group: a manager of another one, or
 * a former manager, has none.
 * @throws {Refusal} 404 no such group · 403
 */
export async function requireManaged(db: Db, actor: Pick<Actor, 'id'>, groupId: number): Promise<CountedGroup> {
  const group = await requireGroup(db, groupId)
  if (!(await mayManage(db, actor, groupId))) throw refusals.notGroupManager()
  return group
}

async function mayManage(db: Db, { id }: Pick<Actor, 'id'>, groupId: number): Promise<boolean> {
  // The operator has no account.
  if (id === null) return true
  const user = await findUser(db, id)
  if (!user || user.isBlocked) return false
  return user.isAdmin || (await findMembership(db, groupId, id))?.role === 'manager'
}

/** Members of a provider's group are the provider's affair alone. @throws {Refusal} 409 */
export function refuseProviderGroup({ source }: Pick<CountedGroup, 'source'>): void {
  if (source !== localSource) throw refusals.conflict(message('groups.providerMembers', { source }))
}

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
