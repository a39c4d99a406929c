import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertLinkRequest, linkRequestsSince } from '#/store/magic-links.ts'
import { findUserByEmail, insertUser } from '#/store/users.ts'
import { lockDatabase } from '../support/store/locked-database.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

test('while a transaction waits for a lock and then fails, others write beside it and never read what it takes back', async (t) => {
  const { database, folder } = await openTemporaryStore(t)
  const { db } = database
  const now = new Date()
  const unlock = await lockDatabase(t, folder)
  const step = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const failing = database.transaction(async (tx) => {
    await insertUser(tx, { email: 'ghost@x.org', slug: 'ghost', isAdmin: false, now })
    step.resolve()
    await end.promise
    throw new Error('changed its mind')
  })
  const beside = insertLinkRequest(db, 'beside@x.org', now)
  await sleep(100)
  await unlock()
  await step.promise
  // Reads at once, although the transaction is not over and a writer waits.
  assert.equal(await findUserByEmail(db, 'ghost@x.org'), undefined)
  assert.equal((await linkRequestsSince(db, 'beside@x.org', new Date(0))).length, 0)
  end.resolve()
  await assert.rejects(failing, /changed its mind/)
  await beside
  assert.equal(await findUserByEmail(db, 'ghost@x.org'), undefined)
  assert.equal((await linkRequestsSince(db, 'beside@x.org', new Date(0))).length, 1)
})
