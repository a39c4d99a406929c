import type { Actor } from '#/accounts/actor.ts'
import type { GroupContainers, GroupStop } from '#/groups/group-containers.ts'
import type { GroupMembers } from '#/groups/group-members.ts'
import type { JoinCodes } from '#/groups/join-codes.ts'
import { actorOf, ownerOf, ownSessionOf, userOf } from '#/http/auth/caller.ts'
import type { Call, Handlers } from './handler-types.ts'
import { readGroupId, readLimit, readMemberId } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { defaultPageSize } from './group-administration-handlers.ts'
import { toGroup, toMember } from './group-serializers.ts'

export interface GroupHandlerParts {
  readonly members: GroupMembers
  readonly joinCodes: JoinCodes
  readonly containers: GroupContainers
}

type Names =
  | 'listOwnGroups'
  | 'joinGroup'
  | 'listMembers'
  | 'addMembers'
  | 'removeMember'
  | 'createJoinCode'
  | 'deleteJoinCode'
  | 'stopGroup'
  | 'blockGroup'
  | 'unblockGroup'

/** One's own groups. @param groupsOf reads those of a user */
export const listOwnGroupsHandler =
  (groupsOf: GroupMembers['groupsOf']): Handlers['listOwnGroups'] =>
  async (call) => ({ groups: await groupsOf(userOf(call).id) })

/** One's own groups, and what managers do. Rights of managers are checked by the use cases. */
export function groupHandlers({ members, joinCodes, containers }: GroupHandlerParts): Pick<Handlers, Names> {
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
      const report = (error: unknown) => call.request.log.error({ err: error }, 'an invitation to a group failed')
      return members.add(managerOf(call), readGroupId(call.params.id), { emails, role }, call.now, report)
    },
    removeMember: async (call) => {
      const { id, user_id: userId } = call.params
      const actor = managerOf(call)
      const groupId = readGroupId(id)
      await members.remove(actor, groupId, readMemberId(userId), call.now)
      return { message: localizedReply(call, message('groups.memberRemoved')) }
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
  }
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
