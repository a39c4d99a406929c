import type { ContainerStatus } from '@berth/api/schemas/administration/admin.ts'
import {
  countContainers,
  listContainersWithOwners,
  type ContainerFilter,
  type ContainerOfOwner,
  type RecordSelection,
} from '#/store/container-list.ts'
import { listContainersOf, listContainersOfAll, type UserContainer } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import type { ListOrder, PageCursor, PageRequest } from '#/store/keyset-pagination.ts'
import { countUsers, listUsers, type UserFilter } from '#/store/user-list.ts'
import type { User } from '#/store/users.ts'
import { requireUser } from '#/accounts/guards.ts'

/** A page of a list, and the cursor of the next one; null after the last page. */
export interface Page<Row> {
  readonly rows: Row[]
  readonly next: PageCursor | null
}

/** Status of containers, as far as it is known. */
export interface Statuses {
  of(record: UserContainer): ContainerStatus
  /** Selects the records that have this status. */
  withStatus(status: ContainerStatus): RecordSelection
}

/** A user with all their records. */
export interface UserWithContainers {
  readonly user: User
  readonly containers: UserContainer[]
}

/** A record with its owner and the status of its container. */
export interface ContainerRow extends ContainerOfOwner {
  readonly status: ContainerStatus
}

/** Filter of the list of containers. */
export type AdminContainerFilter = Omit<ContainerFilter, 'selection'> & {
  readonly status?: ContainerStatus | undefined
}

/** Lists of all users and containers for administrators, with keyset pagination. */
export class AdminLists {
  readonly #db: Db
  readonly #statuses: Statuses

  constructor(db: Db, statuses: Statuses) {
    this.#db = db
    this.#statuses = statuses
  }

  countUsers(filter: UserFilter): Promise<number> {
    return countUsers(this.#db, filter)
  }

  /** A page of users, each with all their records; two or three queries for any number of users. */
  async listUsers(page: PageRequest, filter: UserFilter): Promise<Page<UserWithContainers>> {
    const { rows, next } = toPage(
      await listUsers(this.#db, oneMore(page), filter),
      page,
      ({ id, email, lastUsed, createdAt }) => ({ id, email, lastUsed, createdAt }),
    )
    const ids = rows.map(({ id }) => id)
    const byOwner = Map.groupBy(await listContainersOfAll(this.#db, ids), ({ userId }) => userId)
    return { rows: rows.map((user) => ({ user, containers: byOwner.get(user.id) ?? [] })), next }
  }

  countContainers({ status, ...filter }: AdminContainerFilter): Promise<number> {
    return countContainers(this.#db, { ...filter, selection: this.#selectionOf(status) })
  }

  /**
   * A page of all containers. Records change status while the store is read: a page that is filtered by status may have
   * fewer rows than its limit although there is a next page.
   */
  async listContainers(page: PageRequest, { status, ...filter }: AdminContainerFilter): Promise<Page<ContainerRow>> {
    const { rows, next } = toPage(
      await listContainersWithOwners(this.#db, oneMore(page), { ...filter, selection: this.#selectionOf(status) }),
      page,
      ({ email, record: { id, lastUsed, createdAt } }) => ({ id, email, lastUsed, createdAt }),
    )
    const withStatus = rows.map((row) => ({ ...row, status: this.#statuses.of(row.record) }))
    return { rows: status ? withStatus.filter((row) => row.status === status) : withStatus, next }
  }

  #selectionOf(status: ContainerStatus | undefined): RecordSelection | undefined {
    return status && this.#statuses.withStatus(status)
  }
}

/** @throws {Refusal} 404 */
export async function withContainers(db: Db, id: number): Promise<UserWithContainers> {
  return { user: await requireUser(db, id), containers: await listContainersOf(db, id) }
}

/** One row more than the limit shows whether there is a next page. */
const oneMore = (page: PageRequest): PageRequest => ({ ...page, limit: page.limit + 1 })

interface Keys {
  readonly id: number
  readonly email: string
  readonly lastUsed: Date | null
  readonly createdAt: Date
}

function toPage<Row>(found: readonly Row[], { order, limit }: PageRequest, keysOf: (row: Row) => Keys): Page<Row> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: last && found.length > limit ? endOf(keysOf(last), order) : null }
}

function endOf({ id, email, lastUsed, createdAt }: Keys, { by }: ListOrder): PageCursor {
  const values = { id: null, email, last_used: lastUsed?.getTime() ?? null, created_at: createdAt.getTime() }
  return { value: values[by], id }
}
