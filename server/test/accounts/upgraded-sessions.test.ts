import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { SignJWT } from 'jose'
import { Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { postgresDialect } from '#/store/open/postgres-dialect.ts'
import { sqliteDialect } from '#/store/open/sqlite-dialect.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import { assertOk } from '../support/api-calls.ts'
import { startEnginelessBerth } from '../support/berth-without-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'
import { dialects } from '../support/store/both-databases.ts'
import { startPostgres } from '../support/store/postgres.ts'

/**
 * A store and tokens from before sessions outlived their tokens (migration 013): a row of `sessions` had the `jti` of its
 * only token, and tokens had no claim `sid`.
 */
const now = Math.floor(Date.now() / 1_000)
const hour = 3_600

/** A store as it was left by the version before, with two users, three sessions, and one revoked token. */
async function writeOldStore(url: string | null, dataDir: string): Promise<void> {
  const isPostgres = url !== null
  const dialect = isPostgres
    ? await postgresDialect(url, { withoutTimeouts: true })
    : sqliteDialect(path.join(dataDir, 'berth.sqlite'))
  const db = new Kysely<unknown>({ dialect })
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(isPostgres) } })
  const { error } = await migrator.migrateTo('012-clock-moves')
  assert.ifError(error)
  const created = (now - hour) * 1_000
  const expires = (now + hour) * 1_000
  for (const [email, slug, isAdmin] of [
    ['boss@x.org', 'boss', 1],
    ['ann@x.org', 'ann', 0],
  ] as const)
    await sql`insert into users (email, slug, state, is_admin, created_at)
      values (${email}, ${slug}, 'verified', ${isAdmin}, ${created})`.execute(db)
  for (const [jti, ended] of [
    ['laptop', null],
    ['tablet', created + 60_000],
  ] as const)
    await sql`insert into sessions (user_id, jti, created_at, expires_at, address, browser, ended_at)
      values (2, ${jti}, ${created}, ${expires}, '192.0.2.1', 'Firefox on Linux', ${ended})`.execute(db)
  await sql`insert into sessions (user_id, jti, created_at, expires_at, address, acting_admin_id, acting_admin_email, reason)
    values (2, 'takeover', ${created}, ${expires}, '192.0.2.9', 1, 'boss@x.org', 'Her editor hangs')`.execute(db)
  await sql`insert into revoked_tokens (jti, expires_at) values ('tablet', ${expires})`.execute(db)
  await db.destroy()
}

for (const dialect of dialects)
  describe(dialect, () => {
    test('an update keeps all users signed in until their token expires, and no user whose session had ended', async (t) => {
      const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-upgrade-'))
      t.after(() => rm(dataDir, { recursive: true, force: true }))
      const postgres = dialect === 'PostgreSQL' ? await startPostgres() : undefined
      if (postgres) t.after(() => postgres.stop())
      await writeOldStore(postgres?.url ?? null, dataDir)
      const env = { BASE_DOMAIN: 'berth.localhost', ...(postgres ? { DATABASE_URL: postgres.url } : {}) }
      const berth = await startEnginelessBerth(t, { gateway: new FakeGateway(), env, dataDir })
      const { privateKey, kid } = await loadSigningKeys(dataDir)
      const tokenOf = (jti: string, more: Record<string, unknown> = {}) =>
        new SignJWT({ is_admin: false, ...more })
          .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
          .setSubject('2')
          .setJti(jti)
          .setIssuedAt(now - hour + 60)
          .setExpirationTime(now + 600)
          .sign(privateKey)
      const status = async (token: string) => (await berth.call('GET', '/api/user/me', { token })).status
      const laptop = await tokenOf('laptop')
      const takeover = await tokenOf('takeover', { act: { sub: '1' } })
      const withoutRow = await tokenOf('of-a-version-without-sessions')

      assert.deepEqual(await Promise.all([laptop, takeover, withoutRow].map(status)), [200, 200, 200])
      assert.equal(await status(await tokenOf('tablet')), 401)

      const { sessions } = (await berth.call('GET', '/api/user/sessions', { token: laptop })).body
      const shown = sessions.map((each: Record<string, unknown>) => [each['browser'], each['is_current']])
      assert.deepEqual(shown.toSorted(), [
        [null, false],
        ['Firefox on Linux', true],
      ])

      // In the second half of its life: it belongs to no session with a cookie, so it ends as it was issued.
      const byCookie = { headers: { host: 'spawner.berth.localhost', cookie: `spawner_token=${laptop}` } }
      const reply = await berth.call('GET', '/api/user/me', byCookie)
      assertOk(reply)
      assert.deepEqual(reply.headers.getSetCookie(), [])

      const acting = sessions.find((each: Record<string, unknown>) => each['taken_over_by'] !== null)
      assertOk(await berth.call('DELETE', `/api/user/sessions/${acting.id}`, { token: laptop }))
      assert.deepEqual(await Promise.all([laptop, takeover].map(status)), [200, 401])
      assertOk(await berth.call('POST', '/api/auth/logout', { token: laptop }))
      assert.deepEqual(await Promise.all([laptop, withoutRow].map(status)), [401, 200])
      assertOk(await berth.call('POST', '/api/auth/logout', { token: withoutRow }))
      assert.equal(await status(withoutRow), 401)
    })
  })
