import type { Template, Templates } from '#/templates/template.ts'
import { refusals } from '#/refusals/errors.ts'
import { covers, isExpired } from '#/templates/group-directory.ts'
import { requireManaged } from '#/groups/managed-group.ts'
import { message } from '@berth/texts/localized-message.ts'
import { findContainer } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import type { CountedGroup } from '#/store/groups.ts'
import { findUser } from '#/store/users.ts'
import { refuseUnshareable } from './shareable.ts'

/** Who asks to look at which container of whom, as a member of which group. */
export interface LookTarget {
  readonly managerId: number
  readonly groupId: number
  /** The member. */
  readonly userId: number
  readonly type: string
}

/** What a look is over, when it may be asked for and allowed. */
export interface AllowedLook {
  readonly group: CountedGroup
  /** Address of the member. */
  readonly email: string
  /** Of the container. */
  readonly recordId: number
}

/**
 * The rules of a look, when it is asked for and again when it is allowed: a manager who is in the group, a member who is
 * not the manager, and a container of a type of the group that may be shared.
 * @throws {Refusal} 404 no such group, member or container · 403 no manager who is in the group, or the group has ended ·
 *   400 no type of the group · 409 the type cannot be shared, or member or container is blocked
 */
export async function requireLook(
  db: Db,
  templates: Pick<Templates, 'get' | 'types'>,
  { managerId, groupId, userId, type }: LookTarget,
  now: Date,
): Promise<AllowedLook> {
  const group = await requireManaged(db, { id: managerId }, groupId)
  // An administrator who is in no such role has no right to see the contents of containers.
  if ((await findMembership(db, groupId, managerId))?.role !== 'manager') throw refusals.lookByManagers()
  if (isExpired(group, now)) throw refusals.groupExpired(group.name)
  refuseUnshareable(templateOf(templates, group, type))
  const [membership, member] = [await findMembership(db, groupId, userId), await findUser(db, userId)]
  if (!membership || !member) throw refusals.groupNotFound('member')
  if (userId === managerId) throw refusals.conflict(message('sharing.ownContainer'))
  const record = await findContainer(db, userId, type)
  if (!record) throw refusals.notFound('container')
  if (member.isBlocked || record.isBlocked) throw refusals.conflict(message('sharing.blockedContainer'))
  return { group, email: member.email, recordId: record.id }
}

function templateOf(templates: Pick<Templates, 'get' | 'types'>, group: CountedGroup, type: string): Template {
  const template = covers(group, type) ? templates.get(type) : undefined
  if (!template) throw refusals.unknownType(templates.types.filter((each) => covers(group, each)))
  return template
}
