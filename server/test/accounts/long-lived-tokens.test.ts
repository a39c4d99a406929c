import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Revocations, type RevokedSession } from '#/accounts/sessions/revocations.ts'
import { insertSession } from '#/store/sessions.ts'
import { insertUser } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

const day = 86_400_000
const now = new Date('2026-01-02T03:04:05.678Z')
const after = (days: number) => new Date(now.getTime() + days * day)

test('a session that was ended stays ended while any token of it lasts, also one from before JWT_ACCESS_TOKEN_EXPIRES was shortened', async (t) => {
  const { database } = await openTemporaryStore(t)
  const { id: userId } = await insertUser(database.db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const times = { createdAt: after(-1), expiresAt: after(30), tokenExpiresAt: after(30) }
  const facts = { userId, sid: 'ann 1', began: 'link', address: '', browser: null, acting: null } as const
  await insertSession(database.db, { ...times, ...facts, cookieHash: 'x' })
  const told: RevokedSession[] = []
  const start = () =>
    new Revocations(database, {
      onRevoked: async (sessions) => void told.push(...sessions),
      onEraEnded: async () => undefined,
      onUnsaved: () => undefined,
    })
  const revocations = start()
  await revocations.revoke([{ userId, jti: 'ann 1', expiresAt: after(1) }], now, 'signed-out')
  assert.deepEqual(told.at(-1), { userId, jti: 'ann 1', expiresAt: after(30) }, 'the gateway keeps it as long')
  await revocations.prune(after(29))
  assert.ok(revocations.has('ann 1'))
  const restarted = start()
  await restarted.load(after(29))
  assert.ok(restarted.has('ann 1'))
  await restarted.prune(after(33))
  assert.ok(!restarted.has('ann 1'))
})
