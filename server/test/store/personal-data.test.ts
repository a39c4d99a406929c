import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PersonalData } from '#/accounts/personal-data.ts'
import { insertAuditEntries, listAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { deleteOldPersonalFacts } from '#/store/personal-facts.ts'
import { verifyAuditLog } from '#/store/verify-audit-log.ts'
import { ensureContainer } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { insertUser } from '#/store/users.ts'
import { dialects, now, useStore } from '../support/store/both-databases.ts'

const kept = { homes: 1, takeovers: 1, audit_addresses: 1, sessions: 1 }

for (const dialect of dialects) {
  describe(`personal data in ${dialect}`, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))

    test('an export finds entries by the user, about the user and about their containers, and no others', async () => {
      const { db } = database
      const ann = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
      const { id: container } = await ensureContainer(db, ann.id, 'dev', 'i', now)
      const entry = (action: AuditEntry['action'], target: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
        at: now,
        actor: { id: 77, email: 'boss@x.org', address: '192.0.2.1' },
        action,
        target,
        ...more,
      })
      const own = { actor: { id: ann.id, email: ann.email, address: '192.0.2.2' } }
      await database.transaction((tx) =>
        insertAuditEntries(tx, [
          entry('user.block', `user:${ann.id}`),
          entry('user.block', `user:${ann.id}0`),
          entry('container.block', `container:${container}`),
          entry('container.delete', 'container:4711', { detail: { user: ann.id, type: 'dev' } }),
          entry('container.delete', 'container:4712', { detail: { type: 'dev', user: ann.id } }),
          entry('container.delete', 'container:4713', { detail: { user: Number(`${ann.id}0`), type: 'dev' } }),
          entry('group.join', 'group:1', own),
        ]),
      )
      const personalData = new PersonalData(database, kept)
      let text = ''
      for await (const piece of await personalData.export(ann.id, now)) text += piece
      const { containers, audit_entries } = JSON.parse(text)
      assert.equal(containers.length, 1)
      const found = audit_entries.map(({ action, target, is_own }: Record<string, unknown>) => [action, target, is_own])
      assert.deepEqual(found, [
        ['user.block', `user:${ann.id}`, false],
        ['container.block', `container:${container}`, false],
        ['container.delete', 'container:4711', false],
        ['container.delete', 'container:4712', false],
        ['group.join', 'group:1', true],
      ])
      assert.deepEqual(audit_entries.at(-1).detail, { address: '192.0.2.2' })
      assert.equal(text.includes('192.0.2.1'), false)
    })

    test('a second export of the same user waits for the first', async () => {
      const bob = await insertUser(database.db, { email: 'bob@x.org', slug: 'bob', isAdmin: false, now })
      const personalData = new PersonalData(database, kept)
      const first = await personalData.export(bob.id, now)
      await first.next()
      await assert.rejects(personalData.export(bob.id, now), { status: 429 })
      await first.return(undefined)
      await (await personalData.export(bob.id, now)).return(undefined)
    })

    test('addresses older than their retention are deleted, and only those', async () => {
      const { db } = database
      const actor = { id: null, email: 'x', address: '192.0.2.9' }
      const at = (ms: number) =>
        ({ at: new Date(now.getTime() + ms), actor, action: 'user.block', target: 'user:9' }) as const
      await database.transaction((tx) => insertAuditEntries(tx, [at(-1), at(0)]))
      await deleteOldPersonalFacts(db, now)
      const [newer, older] = (await listAuditEntries(db, { limit: 2 })).entries
      assert.deepEqual([older?.detail, newer?.detail], [{}, { address: '192.0.2.9' }])
      assert.equal((await verifyAuditLog(db)).firstBroken, null)
    })
  })
}
