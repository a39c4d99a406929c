import type { Group as GroupDto, GroupChanges as GroupChangesDto, Member } from '@berth/api/schemas/groups.ts'
import type { GroupChanges } from '#/groups/group-administration.ts'
import type { GroupMember } from '#/groups/group-members.ts'
import { toAdminContainer } from './dto-serializers.ts'
import type { CountedGroup, GroupLimits } from '#/store/groups.ts'

export const toGroup = (group: CountedGroup): GroupDto => ({
  id: group.id,
  name: group.name,
  description: group.description,
  source: group.source,
  types: group.types && [...group.types],
  limits: { ...group.limits },
  expires_at: group.expiresAt?.toISOString() ?? null,
  member_count: group.memberCount,
})

/** Names without the spaces around them; a type that stands twice counts once; what the API does not name is ignored. */
export function fromGroupChanges(body: GroupChangesDto): GroupChanges {
  const { name, description, types, limits, expires_at: expiresAt } = body
  return {
    ...(description !== undefined && { description }),
    ...(limits && { limits: limitsIn(limits) }),
    ...(name !== undefined && { name: name.trim() }),
    ...(types !== undefined && { types: types && [...new Set(types)] }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
  }
}

const limitNames = ['running', 'memory', 'cpus', 'disk'] as const

/** Those that are there: null is one that is taken away. */
const limitsIn = (limits: NonNullable<GroupChangesDto['limits']>): Partial<GroupLimits> =>
  Object.fromEntries(limitNames.flatMap((name) => (limits[name] === undefined ? [] : [[name, limits[name]]])))

export const toMember = ({ user: { id, email, slug }, role, containers }: GroupMember): Member => ({
  user: { id, email, slug },
  role,
  containers: containers.map(({ record, status }) => ({ ...toAdminContainer(record), status })),
})
