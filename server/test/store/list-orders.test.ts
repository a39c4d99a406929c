import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  countContainers,
  listContainersWithOwners,
  type ContainerFilter,
  type ContainerOfOwner,
} from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import type { ListOrder, PageRequest, PageCursor } from '#/store/pagination.ts'
import { countUsers, deleteUser, listUsers, type User, type UserFilter } from '#/store/users.ts'
import { dialects, useStore } from '../support/store/both-databases.ts'
import { firstOfList } from '#test/support/extent.ts'

/** What a list is ordered by, of one of its rows. */
interface Keys {
  readonly id: number
  readonly email: string
  readonly lastUsed: Date | null
  readonly createdAt: Date
}

const orders = (['id', 'email', 'last_used', 'created_at'] as const).flatMap((by): ListOrder[] => [
  { by, isDescending: false },
  { by, isDescending: true },
])
const userFilters: UserFilter[] = [
  {},
  { q: 'ER1' },
  { state: 'registered' },
  { isAdmin: true },
  { isAdmin: false },
  { isBlocked: true },
  { isBlocked: false },
  { q: 'nobody' },
  { q: '2', isBlocked: false, isAdmin: false, state: 'active' },
]
const containerFilters: ContainerFilter[] = [
  {},
  { q: 'ER1' },
  { type: 'dev' },
  { type: 'nothing' },
  { isBlocked: true },
  { isBlocked: false },
  { selection: { ids: [3, 5, 8, 13, 21, 34, 99_999], isInverted: false } },
  { selection: { ids: [3, 5, 8, 13, 21, 34], isInverted: true } },
  { selection: { ids: [3, 5, 8, 13, 21, 34], isInverted: true, types: ['dev'] } },
  { selection: { ids: [3, 5, 8, 13, 21, 34], isInverted: false, orOtherThanTypes: ['dev'] } },
  { selection: { ids: [], isInverted: false } },
  { q: '2', type: 'dev', isBlocked: false },
]

for (const [index, dialect] of dialects.entries()) {
  describe(dialect, firstOfList(index), () => {
    let database: Database
    useStore(dialect, (store) => (database = store))
    before(() => fill(database))

    test('users come in each order, page by page, each once, users who were never active last', async () => {
      const all = await listUsers(database.db, { order: orders[0] as ListOrder, limit: 1_000 })
      assert.equal(all.length, 60)
      for (const filter of userFilters) {
        const expected = all.filter((user) => isMeant(user, filter))
        for (const order of orders) {
          const read = (page: PageRequest) => listUsers(database.db, page, filter)
          assert.deepEqual(
            ids(await walk(read, (user) => user, order)),
            ids(inOrder(expected, order)),
            says(order, filter),
          )
        }
        assert.equal(await countUsers(database.db, filter), expected.length, JSON.stringify(filter))
      }
    })

    test('containers come in each order, page by page, each once, with whose they are', async () => {
      const all = await listContainersWithOwners(database.db, { order: orders[0] as ListOrder, limit: 1_000 })
      assert.equal(all.length, 90)
      for (const filter of containerFilters) {
        const expected = all.filter((row) => isMeantContainer(row, filter)).map(keysOf)
        for (const order of orders) {
          const read = (page: PageRequest) => listContainersWithOwners(database.db, page, filter)
          const rows = await walk(read, keysOf, order)
          assert.deepEqual(ids(rows.map(keysOf)), ids(inOrder(expected, order)), says(order, filter))
          for (const { record, email, slug } of rows)
            assert.deepEqual([email, slug], [`user${number(record.userId)}@x.org`, `user${number(record.userId)}`])
        }
        assert.equal(await countContainers(database.db, filter), expected.length, JSON.stringify(filter))
      }
    })

    test('a user deleted between two pages neither hides nor repeats another', async () => {
      const order = { by: 'last_used', isDescending: true } as const
      const first = await listUsers(database.db, { order, limit: 10 })
      const rest = await listUsers(database.db, { order, limit: 100, after: endOf(first.at(-1) as User, order) })
      await deleteUser(database.db, first[0]?.id as number)
      await deleteUser(database.db, first.at(-1)?.id as number)
      const again = await listUsers(database.db, { order, limit: 100, after: endOf(first.at(-1) as User, order) })
      assert.deepEqual(ids(again), ids(rest))
    })
  })
}

/** Sixty people, half of them with two containers; many have the same times, and many none. */
async function fill({ db }: Database): Promise<void> {
  const people = Array.from({ length: 60 }, (_, each) => ({
    email: `user${number(each + 1)}@x.org`,
    slug: `user${number(each + 1)}`,
    state: (['registered', 'verified', 'active'] as const)[each % 3] ?? 'active',
    is_admin: Number(each % 10 === 0),
    is_blocked: Number(each % 4 === 0),
    last_used: each % 3 === 0 ? null : 1_000_000 + (each % 5) * 1_000,
    created_at: 1_000_000 + ((each * 7) % 11) * 1_000,
  }))
  await db.insertInto('users').values(people).execute()
  const owned = people.flatMap((person, each) =>
    (each % 2 === 0 ? ['dev', 'prod'] : ['dev']).map((type) => ({ person, each, type })),
  )
  const records = owned.map(({ person, each, type }) => ({
    user_id: each + 1,
    container_type: type,
    template_image: 'image',
    last_used: type === 'dev' ? person.last_used : null,
    created_at: person.created_at,
    is_blocked: Number(each % 5 === 0),
  }))
  await db.insertInto('user_containers').values(records).execute()
}

/** So that the order of texts is the order of numbers, in any collation. */
const number = (id: number) => String(id).padStart(2, '0')

async function walk<Row>(
  read: (page: PageRequest) => Promise<Row[]>,
  keys: (row: Row) => Keys,
  order: ListOrder,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let after: PageCursor | undefined; ;) {
    const page = await read({ order, limit: 7, after })
    rows.push(...page)
    const last = page.at(-1)
    if (!last || rows.length > 200) return rows
    after = endOf(keys(last), order)
  }
}

function endOf(row: Keys, { by }: ListOrder): PageCursor {
  return { value: by === 'id' ? null : valueOf(row, by), id: row.id }
}

function valueOf(row: Keys, by: ListOrder['by']): string | number | null {
  if (by === 'id') return row.id
  if (by === 'email') return row.email
  return (by === 'last_used' ? row.lastUsed : row.createdAt)?.getTime() ?? null
}

function inOrder(rows: readonly Keys[], { by, isDescending }: ListOrder): Keys[] {
  const way = isDescending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [left, right] = [valueOf(one, by), valueOf(other, by)]
    if ((left === null) !== (right === null)) return left === null ? 1 : -1
    if (left === right || left === null || right === null) return way * (one.id - other.id)
    return way * (left < right ? -1 : 1)
  })
}

const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id)
const says = (order: ListOrder, filter: object) => `${JSON.stringify(order)} of ${JSON.stringify(filter)}`
const keysOf = ({ record, email }: ContainerOfOwner): Keys => ({ ...record, email })
const hasPart = (email: string, slug: string, q = '') => `${email} ${slug}`.includes(q.toLowerCase())

function isMeant(user: User, { q, state, isAdmin, isBlocked }: UserFilter): boolean {
  return (
    hasPart(user.email, user.slug, q) &&
    (state ?? user.state) === user.state &&
    (isAdmin ?? user.isAdmin) === user.isAdmin &&
    (isBlocked ?? user.isBlocked) === user.isBlocked
  )
}

function isMeantContainer({ record, email, slug }: ContainerOfOwner, filter: ContainerFilter): boolean {
  const { q, type, isBlocked, selection } = filter
  const isAmong =
    !selection ||
    (selection.ids.includes(record.id) !== selection.isInverted &&
      (selection.types ?? [record.type]).includes(record.type)) ||
    !(selection.orOtherThanTypes ?? [record.type]).includes(record.type)
  return (
    isAmong &&
    hasPart(email, slug, q) &&
    (type ?? record.type) === record.type &&
    (isBlocked ?? record.isBlocked) === record.isBlocked
  )
}
