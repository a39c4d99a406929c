import type { ContainersQuery, UsersQuery } from '@berth/api/schemas/admin.ts'
import type Type from 'typebox'
import { listAllContainers, listUsersWithContainers } from '#/administration/admin-lists.ts'
import type { ContainerStatuses } from '#/containers/state/container-statuses.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { toAdminUser, toListedContainer } from '#/http/handlers/dto-serializers.ts'
import { countContainers, type ContainerFilter } from '#/store/containers/container-list.ts'
import type { Database } from '#/store/database.ts'
import type { PageRequest } from '#/store/keyset-pagination.ts'
import { countUsers, type UserFilter } from '#/store/users/user-list.ts'
import { fromCursor, toCursor, toOrder, type SortParameter } from '../cursor.ts'
import { readLimit } from '../parameters.ts'

export interface ListParts {
  readonly database: Pick<Database, 'db'>
  readonly statuses: ContainerStatuses
}

/** Containers in one answer, when nobody says how many. */
const defaultPageSize = 100

/** The administrators' lists of everybody and everything. */
export function listHandlers({
  database: { db },
  statuses,
}: ListParts): Pick<Handlers, 'listUsers' | 'countUsers' | 'listAllContainers' | 'countContainers'> {
  return {
    listUsers: async ({ query }) => {
      const { rows, next } = await listUsersWithContainers(db, pageOf(query), usersFilter(query))
      return { users: rows.map(toAdminUser), next_cursor: next && toCursor(query.sort ?? 'id', next) }
    },
    countUsers: async ({ query }) => ({ count: await countUsers(db, usersFilter(query)) }),

    listAllContainers: async ({ query }) => {
      const filter = { ...containersFilter(query), status: query.status }
      const { rows, next } = await listAllContainers(db, statuses, pageOf(query, defaultPageSize), filter)
      return { containers: rows.map(toListedContainer), next_cursor: next && toCursor(query.sort ?? 'id', next) }
    },
    countContainers: async ({ query }) => {
      const selection = query.status && statuses.withStatus(query.status)
      return { count: await countContainers(db, { ...containersFilter(query), selection }) }
    },
  }
}

/** @throws {Refusal} 400 for a limit or a cursor that is none */
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

function containersFilter({ q, container_type, is_blocked }: Type.Static<typeof ContainersQuery>): ContainerFilter {
  return { q, type: container_type, isBlocked: flag(is_blocked) }
}

const flag = (word: string | undefined) => (word === undefined ? undefined : word === 'true')
