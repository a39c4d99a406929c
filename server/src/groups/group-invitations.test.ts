import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newGroup } from '#test/support/store/new-group.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { PreviewMembers } from './group-invitations.ts'

// Each address was up to three queries by itself, which requests of all others waited for: 174 ms for 500.
const operator = { id: null, email: 'operator root', address: 'command line', language: 'en' } as const

test('a preview of 500 addresses asks the store a few times, and not for each address', async (t) => {
  const { database } = await openTemporaryStore(t)
  const { id } = await newGroup(database.db, ['lab'], new Date())
  let queries = 0
  const db = new Proxy(database.db, {
    get: (target, name) => {
      if (name === 'selectFrom') queries++
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const counted = { db, transaction: database.transaction.bind(database) } as typeof database
  const preview = new PreviewMembers({ database: counted, invite: { allowed: async () => () => true } })
  const emails = Array.from({ length: 500 }, (_, index) => `n${index}@x.org`)
  const found = await preview.run(operator, id, emails, new Date())
  assert.deepEqual([found.length, new Set(found.map(({ effect }) => effect))], [500, new Set(['invite'])])
  assert.ok(queries >= 5 && queries <= 25, `${queries} queries`)
})
