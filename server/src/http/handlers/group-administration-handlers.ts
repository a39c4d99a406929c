import type { GroupAdministration } from '#/groups/group-administration.ts'
import { actorOf } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { readGroupId, readLimit } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import { fromGroupChanges, toGroup } from './group-serializers.ts'

export interface GroupAdministrationHandlerParts {
  readonly groups: GroupAdministration
}

type Names = 'listGroups' | 'createGroup' | 'readGroup' | 'changeGroup' | 'deleteGroup'

/** Groups or members in one answer without `limit`. */
export const defaultPageSize = 100

/** The list of all groups. @param list reads a page of it */
export const listGroupsHandler =
  (list: GroupAdministration['list']): Handlers['listGroups'] =>
  async ({ query }) => {
    const page = { limit: readLimit(query.limit, defaultPageSize), after: Number(query.cursor ?? 0) }
    const { groups: found, next } = await list(page, query.q)
    return { groups: found.map(toGroup), next_cursor: next === null ? null : String(next) }
  }

export function groupAdministrationHandlers({ groups }: GroupAdministrationHandlerParts): Pick<Handlers, Names> {
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
  }
}
