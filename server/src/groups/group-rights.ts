import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Db } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import { findGroup, localSource, type CountedGroup } from '#/store/groups.ts'
import { findUser } from '#/store/users.ts'

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
