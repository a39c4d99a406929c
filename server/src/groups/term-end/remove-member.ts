import type { Actor } from '#/accounts/actor.ts'
import { administer } from '#/accounts/administrator-changes.ts'
import type { Admin } from '#/admin/open-admin.ts'
import { sharedHome } from '#/containers/container-name.ts'
import type { HomeNames } from '#/containers/open-containers.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { Refusal } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Tx } from '#/store/database.ts'
import { deleteMember, findMembership, listMembershipsOf } from '#/store/group-members.ts'
import { listArchivesOf, type StoredArchive } from '#/store/home-archives.ts'
import { insertRemovals } from '#/store/removals.ts'
import { setMemberState, type TermEnd, type TermEndMember } from '#/store/term-ends.ts'
import { listContainersOf, type UserContainer } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'
import type { ArchiveStore } from '#/homes/archive-store.ts'
import { TermEndPaused, homeStateOf } from './archive-member.ts'
import type { PlannedMember } from './member-outcomes.ts'

export interface RemoveMemberParts {
  readonly database: Database
  readonly deletion: Admin['deletion']
  readonly files: Pick<ArchiveStore, 'has'>
  readonly names: Pick<HomeNames, 'typesWith' | 'isShared'>
  /** Homes without a container are to be removed. */
  readonly activate: () => void
  readonly onMembers: () => void
}

/**
 * Removes what an end of term takes from a member, if each home has an archive that is whole, and was not used since.
 * Repeatable: what is gone is gone.
 */
export class RemoveMember {
  readonly #parts: RemoveMemberParts

  constructor(parts: RemoveMemberParts) {
    this.#parts = parts
  }

  /**
   * @param planned by the facts of this moment: what has a reason to stay by now stays
   * @throws {TermEndPaused} its administrator is none any more · when a home has to be archived again, which is noted · what the
   * deletion throws
   */
  async run(termEnd: TermEnd, member: TermEndMember, planned: PlannedMember, now: Date): Promise<void> {
    const { database } = this.#parts
    const { outcome } = planned
    if (outcome.untouched !== null) return setMemberState(database.db, member.id, 'kept', 'changed')
    if (!(await this.#areArchived(member, planned, outcome.ends))) {
      await setMemberState(database.db, member.id, 'waiting')
      throw new Error('a home has no archive of its present state; it is archived again')
    }
    const actor = actorOf(termEnd)
    const isAccount = member.stays === null && outcome.stays === null
    const check = (types: readonly string[]) => async (tx: Tx) =>
      requireUnchanged(tx, termEnd.groupId, member, planned, this.#withRecords(types))
    if (isAccount) await this.#removeAccount(actor, member, check(outcome.ends), now)
    else await this.#removeContainers(actor, termEnd, planned, outcome.ends, check, now)
    crashPoint('term-end.after-removal')
    if (isAccount) await setMemberState(database.db, member.id, 'done')
    else await this.#leave(actor, termEnd, member, now)
  }

  async #areArchived(member: TermEndMember, { records, homes }: PlannedMember, types: readonly string[]) {
    const archives = await listArchivesOf(this.#parts.database.db, member.id)
    for (const type of types) {
      const archive = archives.find((each) => each.type === type)
      if (!isOfPresentState(archive, records, this.#recordTypes(type), homes.has(type))) return false
      if (archive && !(await this.#parts.files.has(archive))) return false
    }
    return true
  }

  /** Types whose records say whether the home was used. */
  #recordTypes(type: string): readonly string[] {
    return type === sharedHome ? this.#parts.names.typesWith(type) : [type]
  }

  #withRecords(types: readonly string[]): readonly CheckedHome[] {
    return types.map((type) => ({ type, recordTypes: this.#recordTypes(type) }))
  }

  async #removeAccount(actor: Actor, { userId }: TermEndMember, check: Check, now: Date): Promise<void> {
    const terms = { check, keepsArchives: true }
    await this.#parts.deletion.deleteUser(actor, userId, true, now, terms).catch(refuseLostRights)
    this.#parts.onMembers()
  }

  async #removeContainers(
    actor: Actor,
    { groupId }: TermEnd,
    { user, records, homes }: PlannedMember,
    types: readonly string[],
    check: (types: readonly string[]) => Check,
    now: Date,
  ): Promise<void> {
    const { database, deletion, activate, names } = this.#parts
    // The deletion of the last record of those that share it removes the home; the archive counts as of before the first.
    let unchecked = types.filter((type) => type === sharedHome)
    for (const { id, type } of records.filter((each) => types.includes(each.type))) {
      const checked = names.isShared(type) ? [type, ...unchecked] : [type]
      await deletion.deleteContainer(actor, id, true, now, { check: check(checked) }).catch(refuseLostRights)
      if (names.isShared(type)) unchecked = []
    }
    // A home that a type had before it began to share stays with the person.
    const isLeft = (type: string) => !records.some((record) => this.#recordTypes(type).includes(record.type))
    const left = types.filter((type) => homes.has(type) && isLeft(type) && !names.isShared(type))
    if (left.length === 0) return
    const removals = left.map((type) => ({ userId: user.id, slug: user.slug, type, containerId: null }))
    await administer(database, actor, async (tx) => {
      await check(left)(tx)
      await insertRemovals(tx, removals, { isPurge: true, now })
      const detail = { user: user.id, types: left }
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'group.remove-homes', target: `group:${groupId}`, detail },
      ])
    }).catch(refuseLostRights)
    activate()
  }

  /**
   * Also of a membership that a provider made: the provider may make it again. With the state in one transaction, because a
   * member without a membership counts as one who has left by themselves.
   */
  async #leave(actor: Actor, { groupId }: TermEnd, { id, userId }: TermEndMember, now: Date): Promise<void> {
    await administer(this.#parts.database, actor, async (tx) => {
      await setMemberState(tx, id, 'done')
      const membership = groupId === null ? undefined : await findMembership(tx, groupId, userId)
      if (!membership) return
      await deleteMember(tx, membership.groupId, userId)
      const [target, detail, before] = [`group:${groupId}`, { user: userId }, { role: membership.role }]
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.remove-member', target, detail, before }])
    }).catch(refuseLostRights)
    this.#parts.onMembers()
  }
}

/** A home that is deleted, and the types whose records say whether it was used. */
interface CheckedHome {
  readonly type: string
  readonly recordTypes: readonly string[]
}

/** Throws, in the transaction that deletes, when it must not. */
type Check = (tx: Tx) => Promise<void>

/** Removals happen later than they were asked for, from nowhere. */
const actorOf = ({ actorId, actorName, language }: TermEnd): Actor => ({
  id: actorId,
  email: actorName,
  address: 'end of term',
  language,
})

/** What was deleted meanwhile is gone. @throws {TermEndPaused} */
function refuseLostRights(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
  if (error.status === 403) throw new TermEndPaused('administrator', error)
  if (error.status !== 404) throw error
}

/**
 * Compares what a plan was made of with the store, in the transaction that deletes: between the two a member may have joined
 * another group, become an administrator or used a home.
 * @param checked homes that are deleted @throws {Error} when something has changed; the member is planned again
 */
async function requireUnchanged(
  tx: Tx,
  groupId: number | null,
  member: TermEndMember,
  planned: PlannedMember,
  checked: readonly CheckedHome[],
): Promise<void> {
  const { userId } = member
  const user = await findUser(tx, userId)
  const isSame = user?.isAdmin === planned.user.isAdmin && user.isBlocked === planned.user.isBlocked
  const memberships = await listMembershipsOf(tx, userId)
  const isSameRole = memberships.find((each) => each.groupId === groupId)?.role === planned.role
  const isInNoOther = memberships.every((each) => planned.groupIds.includes(each.groupId))
  const records = await listContainersOf(tx, userId)
  const isMore = records.some(({ id }) => !planned.records.some((each) => each.id === id))
  if (!isSame || !isSameRole || !isInNoOther || isMore)
    throw new Error('the member was changed since the removal was planned; it is planned again')
  const archives = await listArchivesOf(tx, member.id)
  const isArchived = ({ type, recordTypes }: CheckedHome) =>
    isOfPresentState(
      archives.find((each) => each.type === type),
      records,
      recordTypes,
      planned.homes.has(type),
    )
  if (!checked.every(isArchived)) throw new Error('a home was used since the removal was planned; it is planned again')
}

/** Whether an archive has what is in the home now, as far as store and plan tell; without one, whether there is no home. */
function isOfPresentState(
  archive: StoredArchive | undefined,
  records: readonly UserContainer[],
  types: readonly string[],
  hasHome: boolean,
): boolean {
  if (archive) return archive.recordState === homeStateOf(records, types)
  return !hasHome && records.every((each) => !types.includes(each.type) || each.runningSince === null)
}
