import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { AuditReader } from '#/admin/admin-lists.ts'
import { insertAuditEntries, listAuditEntries, listAuditEntriesAfter, type AuditEntry } from '#/store/audit-log.ts'
import { verifyAuditLog } from '#/store/verify-audit-log.ts'
import type { Database } from '#/store/database.ts'
import { auditEntriesAbout } from '#/store/personal-data.ts'
import { dialects, now, useStore } from '../support/store/both-databases.ts'

/**
 * A manager of a group could write 1,000 entries with 96 KB each within half a minute. A page of them, and the user's own copy
 * of their data, kept the API process from answering anything else for 14 s, on a busy machine.
 */
const entry = (facts: Partial<AuditEntry>): AuditEntry => ({
  at: now,
  actor: { id: 1, email: 'ann@x.org', address: '192.0.2.1' },
  action: 'group.set-timetable',
  target: 'group:1',
  ...facts,
})

for (const dialect of dialects)
  describe(dialect, () => {
    let database: Database
    useStore(dialect, (opened) => (database = opened))
    const write = (entries: readonly AuditEntry[]) =>
      database.transaction((tx) => insertAuditEntries(tx, entries.map(entry)))

    test('large facts before and after a change are stored by size and hash, small ones as they are', async () => {
      const [before, after] = [{ timetable: 'ä'.repeat(5_000) }, { timetable: 'x'.repeat(5_000) }]
      await write([entry({ before, after })])
      const [stored] = (await listAuditEntries(database.db, { limit: 1 })).entries
      const text = JSON.stringify(before)
      assert.deepEqual(stored?.detail.before, { bytes: Buffer.byteLength(text), sha256: hash('sha256', text) })
      assert.deepEqual(stored?.detail.after, after)
    })

    test('what is read at once is bounded in bytes, and each entry is read once', async () => {
      // As earlier versions have stored them.
      await write(Array.from({ length: 12 }, (_, n) => entry({ detail: { n, text: 'x'.repeat(400_000) } })))
      await write([entry({ detail: { text: 'x'.repeat(3_000_000) } }), entry({}), entry({})])
      const last = 16
      const reader = new AuditReader(database.db)
      const [ids, lengths]: [number[], number[]] = [[], []]
      for (let before: number | null | undefined; before !== null;) {
        const page = await reader.list({ actorId: 1 }, 1_000, before)
        ids.push(...page.entries.map(({ id }) => id))
        lengths.push(page.entries.length)
        before = page.next
      }
      assert.deepEqual(
        ids,
        Array.from({ length: last }, (_, index) => last - index),
      )
      assert.deepEqual(lengths, [2, 1, 2, 2, 2, 2, 2, 3])

      const sent: number[] = []
      for (let page; (page = await listAuditEntriesAfter(database.db, sent.at(-1) ?? 0, 100)).length > 0;) {
        assert.ok(page.length <= 3, String(page.length))
        sent.push(...page.map(({ id }) => id))
      }
      assert.deepEqual(sent, ids.toReversed())

      const own: number[] = []
      for await (const { id } of auditEntriesAbout(database.db, 1, [])) own.push(id)
      assert.deepEqual(own, sent)
      const { entries, firstBroken } = await verifyAuditLog(database.db)
      assert.deepEqual([entries, firstBroken], [last, null])
    })

    test('while a long log is searched for what it says of a user, other work has its turn', async () => {
      await sql
        .raw(
          `insert into audit_log (at, actor_email, action, target, detail, position, hash)
        with recursive many(n) as (select 100 union all select n + 1 from many where n < 20099)
        select n, 'boss@x.org', 'user.block', 'user:7', '{"user":7}', n, '' from many`,
        )
        .execute(database.db)
      let [turns, isOver] = [0, false]
      const count = () => void (isOver || (turns++, setImmediate(count)))
      count()
      const found: number[] = []
      for await (const { id } of auditEntriesAbout(database.db, 2, [])) found.push(id)
      isOver = true
      assert.deepEqual(found, [])
      assert.ok(turns > 20, `${turns} turns`)
    })
  })
