import type { ContainersQuery, UsersQuery } from '@berth/api/schemas/administration/admin.ts'
import type Type from 'typebox'
import type { AdminContainerFilter, AdminLists } from '#/admin/admin-lists.ts'
import { toAdminUser, toListedContainer } from './dto-serializers.ts'
import type { Handlers } from './handler-types.ts'
import type { PageRequest } from '#/store/keyset-pagination.ts'
import type { UserFilter } from '#/store/user-list.ts'
import { fromCursor, toCursor, toOrder, type SortParameter } from './cursor.ts'
import { readLimit } from './request-parameters.ts'

export interface ListParts {
  readonly lists: AdminLists
}

/** Containers in one answer without `limit`. */
const defaultPageSize = 100

/** Lists of all users and containers, for administrators. */
export function listHandlers({
  lists,
}: ListParts): Pick<Handlers, 'listUsers' | 'countUsers' | 'listAllContainers' | 'countContainers'> {
  return {
    listUsers: async ({ query }) => {
      const { rows, next } = await lists.listUsers(pageOf(query), usersFilter(query))
      return { users: rows.map(toAdminUser), next_cursor: next && toCursor(query.sort ?? 'id', next) }
    },
    countUsers: async ({ query }) => ({ count: await lists.countUsers(usersFilter(query)) }),

    listAllContainers: async ({ query }) => {
      const { rows, next } = await lists.listContainers(pageOf(query, defaultPageSize), containersFilter(query))
      return { containers: rows.map(toListedContainer), next_cursor: next && toCursor(query.sort ?? 'id', next) }
    },
    countContainers: async ({ query }) => ({ count: await lists.countContainers(containersFilter(query)) }),
  }
}

/** @throws {Refusal} 400 for an invalid limit or cursor */
function pageOf(
  { sort = 'id', cursor, limit }: { sort?: SortParameter; cursor?: string; limit?: string },
  defaultLimit?: number,
): PageRequest {
  return {
    order: toOrder(sort),
    limit: readLimit(limit, defaultLimit),
    after: cursor === undefined ? undefined : fromCursor(sort, cursor),
  }
}

function usersFilter({ q, state, is_admin, is_blocked }: Type.Static<typeof UsersQuery>): UserFilter {
  return { q, state, isAdmin: flag(is_admin), isBlocked: flag(is_blocked) }
}

function containersFilter({
  q,
  container_type,
  is_blocked,
  status,
}: Type.Static<typeof ContainersQuery>): AdminContainerFilter {
  return { q, type: container_type, isBlocked: flag(is_blocked), status }
}

const flag = (word: string | undefined) => (word === undefined ? undefined : word === 'true')
