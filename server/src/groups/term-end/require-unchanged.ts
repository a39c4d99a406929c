import { listContainersOf, type UserContainer } from '#/store/user-containers.ts'
import type { Tx } from '#/store/database.ts'
import { listMembershipsOf } from '#/store/group-members.ts'
import { listArchivesOf, type StoredArchive } from '#/store/home-archives.ts'
import type { TermEndMember } from '#/store/term-end-members.ts'
import { findUser } from '#/store/users.ts'
import { recordStateOf } from './archive-member.ts'
import type { PlannedMember } from './member-outcomes.ts'

/**
 * Compares what a plan was made of with the store, in the transaction that deletes: between the two a member may have joined
 * another group, become an administrator or used a home.
 * @param types whose homes are deleted @throws {Error} when something has changed; the member is planned again
 */
export async function requireUnchanged(
  tx: Tx,
  groupId: number | null,
  member: TermEndMember,
  planned: PlannedMember,
  types: readonly string[],
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
  const isArchived = (type: string) =>
    isOfPresentState(
      archives.find((each) => each.type === type),
      records.find((each) => each.type === type),
      planned.homes.has(type),
    )
  if (!types.every(isArchived)) throw new Error('a home was used since the removal was planned; it is planned again')
}

/** Whether an archive has what is in the home now, as far as store and plan tell; without one, whether there is no home. */
export function isOfPresentState(
  archive: StoredArchive | undefined,
  record: UserContainer | undefined,
  hasHome: boolean,
): boolean {
  if (!archive) return !hasHome && (record?.runningSince ?? null) === null
  return archive.recordState === recordStateOf(record)
}
