import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#/store/database.ts'
import { deleteExpiredLinks, deleteOldLinkRequests, insertLinkRequest } from '#/store/magic-links.ts'
import { insertUser } from '#/store/users.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const aDayAgo = now.getTime() - 86_400_000

test('a sign-in while thousands of old links and requests are deleted does not wait for the last of them', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-clean-up-'))
  const { db, close } = await openDatabase(null, folder)
  t.after(async () => {
    await close()
    await rm(folder, { recursive: true, force: true })
  })
  const count = async (table: 'magic_links' | 'link_requests') => {
    const { rows } = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    return rows
  }
  const { id } = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const numbers = sql.raw('with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 3000)')
  await sql`${numbers} insert into magic_links (user_id, token_hash, token_type, expires_at, ip_address, created_at)
    select ${id}, 'hash' || n, 'login', ${aDayAgo}, '', ${aDayAgo} from numbers`.execute(db)
  await sql`${numbers} insert into link_requests (email, requested_at)
    select 'ann@x.org', ${aDayAgo} from numbers`.execute(db)

  const cleared = { links: deleteExpiredLinks(db, now), requests: deleteOldLinkRequests(db, now) }
  await insertLinkRequest(db, 'ben@x.org', now)
  assert.ok((await count('magic_links')) > 0, 'the links were deleted before another write was possible')
  assert.ok((await count('link_requests')) > 1, 'the requests were deleted before another write was possible')

  await Promise.all([cleared.links, cleared.requests])
  assert.equal(await count('magic_links'), 0)
  assert.equal(await count('link_requests'), 1)
})
