import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { suite, test } from 'node:test'
import { sql } from 'kysely'
import { listSharesOf, setShare } from '#/store/container-shares.ts'
import { openDatabase } from '#/store/database.ts'
import { ensureContainer } from '#/store/user-containers.ts'
import { dialects, later, newUsers, now } from '#test/support/store/both-databases.ts'
import { startPostgres } from '#test/support/store/postgres.ts'

/** Last migration before shares had ports. */
const older = '030-requested-stops'

for (const dialect of dialects)
  suite(dialect, () => {
    test('an upgrade keeps shares, which open the main port, and lets a visitor have one for each port', async (t) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'berth-upgrade-'))
      t.after(() => rm(folder, { recursive: true, force: true }))
      const postgres = dialect === 'PostgreSQL' ? await startPostgres() : undefined
      t.after(() => postgres?.stop())
      const url = postgres?.url ?? null
      const before = await openDatabase(url, folder, { until: older })
      const { id } = await newUsers(() => before.db, now)()
      const record = await ensureContainer(before.db, id, 'dev', 'x', now)
      for (const email of ['a@x.org', 'b@x.org'])
        await sql`insert into container_shares (record_id, email, may, created_at, expires_at)
          values (${record.id}, ${email}, 'use', ${now.getTime()}, ${later(5_000).getTime()})`.execute(before.db)
      await before.db.deleteFrom('container_shares').where('email', '=', 'b@x.org').execute()
      await before.close()

      const { db, close } = await openDatabase(url, folder)
      t.after(close)
      const to = { email: 'a@x.org' }
      const share = { recordId: record.id, to, may: 'look', now, expiresAt: later(9_000) } as const
      await setShare(db, { ...share, port: 3000 })
      await setShare(db, { ...share, port: 3000, may: 'use' })
      await setShare(db, share)
      const found = await listSharesOf(db, id, 'dev', now)
      assert.deepEqual(
        found.map(({ email, may, port }) => [email, may, port]),
        [
          ['a@x.org', 'look', null],
          ['a@x.org', 'use', 3000],
        ],
      )
      // The id of the share that was deleted is not given again.
      assert.deepEqual([found[0]?.id, (found[1]?.id ?? 0) > 2], [1, true])
    })
  })
