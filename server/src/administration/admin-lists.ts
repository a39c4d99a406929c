import type { ContainerStatus } from '@berth/api/schemas/admin.ts'
import {
  listContainersWithOwners,
  type RecordSelection,
  type ContainerFilter,
  type ContainerOfOwner,
} from '#/store/containers/container-list.ts'
import type { Db } from '#/store/database.ts'
import type { ListOrder, PageRequest, PageCursor } from '#/store/keyset-pagination.ts'
import { listContainersOfAll, type UserContainer } from '#/store/containers/user-containers.ts'
import { listUsers, type UserFilter } from '#/store/users/user-list.ts'
import type { UserWithContainers } from './user-with-containers.ts'

/** Some rows of a list, and where the next page begins; null after the last one. */
export interface Page<Row> {
  readonly rows: Row[]
  readonly next: PageCursor | null
}

/** Where containers stand, as far as is known. */
export interface Statuses {
  of(record: UserContainer): ContainerStatus
  /** Which records have this status. */
  withStatus(status: ContainerStatus): RecordSelection
}

/** A record, whose it is, and where its container stands. */
export interface ContainerRow extends ContainerOfOwner {
  readonly status: ContainerStatus
}

/** A page of users, each with all their records; two or three queries however many users. */
export async function listUsersWithContainers(
  db: Db,
  page: PageRequest,
  filter: UserFilter,
): Promise<Page<UserWithContainers>> {
  const { rows, next } = toPage(
    await listUsers(db, oneMore(page), filter),
    page,
    ({ id, email, lastUsed, createdAt }) => ({ id, email, lastUsed, createdAt }),
  )
  const ids = rows.map(({ id }) => id)
  const byOwner = Map.groupBy(await listContainersOfAll(db, ids), ({ userId }) => userId)
  return { rows: rows.map((user) => ({ user, containers: byOwner.get(user.id) ?? [] })), next }
}

/**
 * A page of all containers. Records change status while the store is read, so that with a filter of that a page may have
 * fewer rows than there is room for, although there is a next one.
 */
export async function listAllContainers(
  db: Db,
  statuses: Statuses,
  page: PageRequest,
  { status, ...filter }: Omit<ContainerFilter, 'selection'> & { status?: ContainerStatus | undefined },
): Promise<Page<ContainerRow>> {
  const selection = status && statuses.withStatus(status)
  const { rows, next } = toPage(
    await listContainersWithOwners(db, oneMore(page), { ...filter, selection }),
    page,
    ({ email, record: { id, lastUsed, createdAt } }) => ({ id, email, lastUsed, createdAt }),
  )
  const withStatus = rows.map((row) => ({ ...row, status: statuses.of(row.record) }))
  return { rows: status ? withStatus.filter((row) => row.status === status) : withStatus, next }
}

/** One more than asked tells whether there is a next page. */
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
