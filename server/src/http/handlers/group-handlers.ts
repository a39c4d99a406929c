import type { Group as GroupDto, GroupChanges as GroupChangesDto, Member } from '@berth/api/schemas/groups.ts'
import type { GroupInvitation } from '@berth/api/schemas/groups/group-invitations.ts'
import type { Timetable as TimetableDto, TimetableResponse } from '@berth/api/schemas/groups/timetable.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { GroupChanges, GroupMember, GroupStop, Groups, PendingInvitation } from '#/groups/open-groups.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { refusals } from '#/refusals/errors.ts'
import type { CountedGroup, GroupLimits, Timetable } from '#/store/groups.ts'
import {
  actorOf,
  ownSessionOf,
  ownerOf,
  readGroupId,
  readLimit,
  readMemberId,
  userOf,
  type Call,
  type Handlers,
  type HandlersParts,
} from './call.ts'
import { toAdminContainer } from './dto-serializers.ts'

/** Groups or members in one answer without `limit`. */
export const defaultPageSize = 100

/** The list of all groups. @param list reads a page of it */
export const listGroupsHandler =
  (list: Groups['administration']['list']): Handlers['listGroups'] =>
  async ({ query }) => {
    const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
    const { groups: found, next } = await list(page, query.q)
    return { groups: found.map(toGroup), next_cursor: next === null ? null : String(next) }
  }

function groupAdministrationHandlers({ administration: groups }: Groups) {
  return {
    listGroups: listGroupsHandler((page, q) => groups.list(page, q)),
    createGroup: async (call) => {
      const { name } = call.body
      const wanted = { ...fromGroupChanges(call.body), name: name.trim() }
      return { group: toGroup(await groups.create(actorOf(call), wanted, call.now)) }
    },
    readGroup: async ({ params }) => ({ group: toGroup(await groups.find(readGroupId(params.id))) }),
    changeGroup: async (call) => {
      const changes = fromGroupChanges(call.body)
      return { group: toGroup(await groups.change(actorOf(call), readGroupId(call.params.id), changes, call.now)) }
    },
    deleteGroup: async (call) => {
      await groups.remove(actorOf(call), readGroupId(call.params.id), call.now)
      return { message: localizedReply(call, message('groups.deleted')) }
    },
  } satisfies Partial<Handlers>
}

/** One's own groups. @param groupsOf reads those of a user */
export const listOwnGroupsHandler =
  (groupsOf: Groups['members']['groupsOf']): Handlers['listOwnGroups'] =>
  async (call) => ({ groups: await groupsOf(userOf(call).id) })

/** Groups, for administrators, managers and members. */
export const groupHandlers = (parts: HandlersParts) => ({
  ...groupAdministrationHandlers(parts.groups),
  ...memberHandlers(parts.groups),
  ...groupFolderHandlers(parts.groups),
  ...groupInvitationHandlers(parts.groups),
  ...groupHoursHandlers(parts),
})

/** One's own groups, and what managers do. Rights of managers are checked by the use cases. */
function memberHandlers({ members, joinCodes, containers }: Groups) {
  return {
    listOwnGroups: listOwnGroupsHandler((userId) => members.groupsOf(userId)),
    joinGroup: async (call) => {
      ownSessionOf(call)
      return { group: toGroup(await joinCodes.join(ownerOf(call), call.body.code, call.now)) }
    },

    listMembers: async (call) => {
      const { query, params } = call
      const isBlocked = query.is_blocked === undefined ? undefined : query.is_blocked === 'true'
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0), isBlocked }
      const { members: found, next } = await members.list(managerOf(call), readGroupId(params.id), page)
      return { members: found.map(toMember), next_cursor: next === null ? null : String(next) }
    },
    addMembers: async (call) => {
      const { emails, role } = call.body
      const given = Object.entries(call.body.names ?? {})
      const names = new Map(given.map(([email, name]) => [email.toLowerCase(), name.trim() || null]))
      const report = (error: unknown) => call.request.log.error({ err: error }, 'an invitation to a group failed')
      return members.add(managerOf(call), readGroupId(call.params.id), { emails, role, names }, call.now, report)
    },
    removeMember: async (call) => {
      const { id, user_id: userId } = call.params
      const actor = managerOf(call)
      const groupId = readGroupId(id)
      await members.remove(actor, groupId, readMemberId(userId), call.now)
      return { message: localizedReply(call, message('groups.memberRemoved')) }
    },

    readJoinCode: async (call) => {
      const { code, expiresAt } = await joinCodes.active(managerOf(call), readGroupId(call.params.id), call.now)
      return { code, expires_at: expiresAt?.toISOString() ?? null }
    },
    createJoinCode: async (call) => {
      const { code, expiresAt } = await joinCodes.create(managerOf(call), readGroupId(call.params.id), call.now)
      return { code, expires_at: expiresAt.toISOString() }
    },
    deleteJoinCode: async (call) => {
      await joinCodes.remove(managerOf(call), readGroupId(call.params.id), call.now)
      return { message: localizedReply(call, message('groups.joinCodeRemoved')) }
    },

    stopGroup: async (call) => {
      const outcome = await containers.stop(managerOf(call), readGroupId(call.params.id), call.now)
      const { stopped, failed, underWay } = outcome
      return { message: localizedReply(call, sentenceOf(outcome)), stopped, failed, under_way: underWay }
    },
    blockGroup: async (call) => {
      const count = await containers.block(managerOf(call), readGroupId(call.params.id), call.now)
      return { message: localizedReply(call, message('groups.blocked', { count })) }
    },
    unblockGroup: async (call) => {
      const count = await containers.unblock(managerOf(call), readGroupId(call.params.id), call.now)
      return { message: localizedReply(call, message('groups.unblocked', { count })) }
    },
  } satisfies Partial<Handlers>
}

function sentenceOf({ stopped: count, failed, underWay }: GroupStop): LocalizedMessage {
  return failed + underWay === 0
    ? message('groups.stopped', { count })
    : message('groups.stoppedBut', { count, failed, underWay })
}

type ManagersCall = Pick<Call<'stopGroup'>, 'session' | 'operator' | 'client'>

/** Who manages: not in a takeover, in which the log would name the owner of the account. @throws {Refusal} 403, 404 */
export function managerOf(call: ManagersCall): Actor {
  if (call.operator === undefined) ownSessionOf(call)
  return actorOf(call)
}

/** The folder of a group. Rights are checked by the use case. */
function groupFolderHandlers({ folders }: Groups) {
  return {
    setGroupFolder: async (call) => {
      const { name, members } = call.body
      const group = await folders.set(managerOf(call), readGroupId(call.params.id), { name, members }, call.now)
      return { group: toGroup(group) }
    },
    removeGroupFolder: async (call) => {
      const isPurge = call.query.purge === 'true'
      await folders.remove(managerOf(call), readGroupId(call.params.id), isPurge, call.now)
      return { message: localizedReply(call, message(isPurge ? 'groups.folderPurged' : 'groups.folderRemoved')) }
    },
  } satisfies Partial<Handlers>
}

/** Members by list, and invitations to a group. Rights are checked by the use cases. */
function groupInvitationHandlers({ previewMembers, invitations }: Groups) {
  return {
    previewMembers: async (call) => ({
      addresses: await previewMembers.run(managerOf(call), readGroupId(call.params.id), call.body.emails, call.now),
    }),
    listGroupInvitations: async (call) => {
      const { params, query } = call
      const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
      const { invitations: found, next } = await invitations.list(managerOf(call), readGroupId(params.id), page)
      return { invitations: found.map(toGroupInvitation), next_cursor: next === null ? null : String(next) }
    },
    withdrawGroupInvitation: async (call) => {
      const { id, invitation_id: invitationId } = call.params
      await invitations.withdraw(managerOf(call), readGroupId(id), readInvitationId(invitationId), call.now)
      return { message: localizedReply(call, message('groups.invitationWithdrawn')) }
    },
    resendGroupInvitation: async (call) => {
      const { id, invitation_id: invitationId } = call.params
      const report = (error: unknown) => call.request.log.error({ err: error }, 'an invitation to a group failed')
      const actor = managerOf(call)
      const email = await invitations.resend(actor, readGroupId(id), readInvitationId(invitationId), call.now, report)
      return { message: localizedReply(call, message('groups.invitationResent', { email })) }
    },
  } satisfies Partial<Handlers>
}

const toGroupInvitation = ({
  id,
  email,
  role,
  by,
  name = null,
  createdAt,
  expiresAt,
}: PendingInvitation): GroupInvitation => ({
  id,
  email,
  name,
  role,
  invited_by: by,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
})

/** @throws {Refusal} 404 */
function readInvitationId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.groupNotFound('invitation')
  return Number(text)
}

/** Hours of a group. Rights are checked by the use cases. */
function groupHoursHandlers({ config, groups: { managedGroup, setTimetable } }: HandlersParts) {
  const answer = (timetable: TimetableDto | null): TimetableResponse => ({
    timetable,
    default_time_zone: config.timeZone,
  })
  return {
    readTimetable: async (call) => {
      const { timetable } = await managedGroup.find(managerOf(call), readGroupId(call.params.id))
      return answer(timetable && toTimetable(timetable))
    },
    setTimetable: async (call) => {
      const { timetable } = call.body
      const wanted = timetable && fromTimetable(timetable)
      await setTimetable.run(managerOf(call), readGroupId(call.params.id), wanted, call.now)
      return answer(wanted && toTimetable(wanted))
    },
  } satisfies Partial<Handlers>
}

type LessonDto = TimetableDto['exceptions'][number]['lessons'][number]

const toTimetable = ({ timeZone, lessons, stopAt, exceptions }: Timetable): TimetableDto => ({
  time_zone: timeZone,
  lessons: lessons.map(({ days, minutes, type }) => ({ days: [...days], at: toTime(minutes), container_type: type })),
  stop_at: stopAt === null ? null : toTime(stopAt),
  exceptions: exceptions.map((each) => ({
    ...each,
    lessons: each.lessons.map(({ minutes, type }) => ({ at: toTime(minutes), container_type: type })),
  })),
})

/**
 * Days once and in order, exceptions by date; of two of one date the last counts. What the API does not name is
 * ignored.
 */
function fromTimetable({ time_zone: timeZone, lessons, stop_at: stopAt, exceptions }: TimetableDto): Timetable {
  const byDate = new Map(exceptions.map((each) => [each.date, each]))
  return {
    timeZone,
    lessons: lessons.map((each) => ({ ...fromLesson(each), days: [...new Set(each.days)].toSorted((a, b) => a - b) })),
    stopAt: stopAt === null ? null : fromTime(stopAt),
    exceptions: [...byDate.values()]
      .toSorted((one, other) => one.date.localeCompare(other.date))
      .map(({ date, stops, lessons: own }) => ({ date, stops, lessons: own.map(fromLesson) })),
  }
}

const fromLesson = ({ at, container_type: type }: LessonDto) => ({ minutes: fromTime(at), type })
const toTime = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const fromTime = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

export const toGroup = (group: CountedGroup): GroupDto => ({
  id: group.id,
  name: group.name,
  description: group.description,
  source: group.source,
  types: group.types && [...group.types],
  limits: { ...group.limits },
  expires_at: group.expiresAt?.toISOString() ?? null,
  member_count: group.memberCount,
  folder: group.folder && { name: group.folder.name, members: group.folder.members },
})

/**
 * Names without the spaces around them; a type that stands twice counts once; what the API does not name is ignored.
 */
function fromGroupChanges(body: GroupChangesDto): GroupChanges {
  const { name, description, types, limits, expires_at: expiresAt } = body
  return {
    ...(description !== undefined && { description }),
    ...(limits && { limits: limitsIn(limits) }),
    ...(name !== undefined && { name: name.trim() }),
    ...(types !== undefined && { types: types && [...new Set(types)] }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
  }
}

const limitNames = ['running', 'memory', 'cpus', 'gpus', 'disk'] as const

/** Those that are there: null is one that is taken away. */
const limitsIn = (limits: NonNullable<GroupChangesDto['limits']>): Partial<GroupLimits> =>
  Object.fromEntries(limitNames.flatMap((name) => (limits[name] === undefined ? [] : [[name, limits[name]]])))

const toMember = ({ user: { id, email, slug }, role, name, containers }: GroupMember): Member => ({
  user: { id, email, slug },
  name,
  role,
  containers: containers.map(({ record, status }) => ({ ...toAdminContainer(record), status })),
})
