import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Db } from '#/store/database.ts'
import type { Specification } from './specification.ts'

/**
 * Users, links that can be used, and the audit log are in the store as the specification says, and slugs as promised.
 * @param since id of the last line of the audit log before the walk @throws {AssertionError}
 */
export async function compareStores(spec: Specification, db: Db, since: number): Promise<void> {
  const users = await db.selectFrom('users').selectAll().orderBy('email').execute()
  assert.deepEqual(
    users.map(({ email, state, is_admin, is_blocked, last_used }) => [
      email,
      state,
      is_admin,
      is_blocked,
      last_used !== null,
    ]),
    [...spec.accounts.values()]
      .map((each) => [each.email, each.state, Number(each.isAdmin), Number(each.isBlocked), each.hasSignedIn])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )
  for (const { email, slug } of users) {
    const base = email.split('@')[0]?.replace(/[^a-z0-9]/g, '') ?? ''
    assert.match(slug, new RegExp(`^${base}([a-z0-9]{4})?$`))
  }
  const now = Date.now()
  const links = await db
    .selectFrom('magic_links')
    .select('token_hash')
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
  assert.deepEqual(
    links.map(({ token_hash }) => token_hash).toSorted(),
    spec.links
      .filter((link) => spec.isLive(link, now))
      .map(({ token }) => createHash('sha256').update(token).digest('hex'))
      .toSorted(),
  )
  const lines = await db.selectFrom('audit_log').selectAll().where('id', '>', since).orderBy('id').execute()
  assert.deepEqual(
    lines.map(({ actor_email: actor, action, target }) => ({ actor, action, target })),
    spec.audit,
  )
}
