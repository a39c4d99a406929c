import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Revocations } from '#/accounts/sessions/revocations.ts'
import { SessionList, SessionUses } from '#/accounts/sessions/session-list.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { insertSession } from '#/store/sessions.ts'
import { insertUser } from '#/store/users.ts'
import { faultyStore, type StoreFault } from '#test/support/store/faulty-store.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const later = new Date(now.getTime() + 900_000)
/** More than one page. */
const many = 501

/** A user with very many sessions, the revocations of which cannot be stored while `fault` has a failure. */
async function startWithMany(t: Parameters<typeof openTemporaryStore>[0]) {
  const fault: StoreFault = {}
  const database = faultyStore((await openTemporaryStore(t)).database, fault)
  const { id } = await insertUser(database.db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const times = { createdAt: now, expiresAt: later, tokenExpiresAt: later }
  const facts = { userId: id, began: 'link', address: '', browser: null, acting: null, cookieHash: null } as const
  await database.transaction(async (tx) => {
    for (let n = 0; n <= many; n++) await insertSession(tx, { ...times, ...facts, sid: `session ${n}` })
  })
  const nothing = async () => undefined
  const revocations = new Revocations(database, { onRevoked: nothing, onEraEnded: nothing, onUnsaved: () => undefined })
  const list = new SessionList(database, revocations, new SessionUses(database, { idle: 900, max: 900 }))
  const own = { sid: `session ${many}` } as Parameters<SessionList['endOthers']>[1]
  const endOthers = () => list.endOthers({ id, email: 'ann@x.org', address: '' }, own, now)
  return { fault, revocations, endOthers }
}

test('sessions whose end could not be stored are looked for once, and those behind them end', async (t) => {
  const { fault, revocations, endOthers } = await startWithMany(t)
  fault.fails = (query) => query === 'insert revoked_tokens'
  await assert.rejects(endOthers(), StoreFailure)
  // SQLite answers synchronously: a search that goes on for ever would stop the process, and this test with it.
  let searches = 0
  fault.fails = (query) => (query === 'select sessions' && ++searches > 3) || query === 'insert revoked_tokens'
  await assert.rejects(endOthers(), /insert revoked_tokens/)
  fault.fails = () => false
  assert.equal(await endOthers(), many)
  const isRevoked = (n: number) => revocations.has(`session ${n}`)
  assert.deepEqual([isRevoked(0), isRevoked(many - 1), isRevoked(many)], [true, true, false])
})
