import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { hashToken } from '#/accounts/sign-up/magic-link.ts'
import { VerifyLink } from '#/accounts/sign-up/verify-link.ts'
import { ProviderRegistry } from '#/accounts/oidc/provider-discovery.ts'
import { ProviderSignIn } from '#/accounts/oidc/provider-sign-in.ts'
import { Seal } from '#/machine/seal.ts'
import type { BeginSession } from '#/accounts/sessions/begin-session.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { insertLink, type LinkPurpose } from '#/store/magic-links.ts'
import { endBlockedSessions } from '#/store/session-ends.ts'
import { insertSession, listSessions } from '#/store/sessions.ts'
import { moveUserState, setUsersBlocked, type User } from '#/store/users.ts'
import { timeLimit } from '../support/extent.ts'
import { publicUrl } from '../support/oidc/berth-with-providers.ts'
import { client as oidcClient, startProvider } from '../support/oidc/provider.ts'
import { atProvider } from '../support/oidc/sign-in.ts'
import { newUsers } from '../support/store/both-databases.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

const now = new Date()
const later = new Date(now.getTime() + 900_000)
const client = { address: '192.0.2.1', isLocal: false, browser: null, language: 'en' } as const

/** Stores sessions as in the service, and makes no tokens. */
const sessions = {
  store: async (tx, userId) => {
    const [sid, times] = [`of ${userId}`, { createdAt: now, expiresAt: later, tokenExpiresAt: later }]
    const facts = { userId, sid, began: 'link', address: '', browser: null, acting: null, cookieHash: null } as const
    await insertSession(tx, { ...times, ...facts })
    return { sid, planned: { jti: sid, sid, issuedAt: now, expiresAt: later }, cookie: null }
  },
  finish: async (user, { sid }) => ({ user, sid, token: '', lifetime: 900, cookie: null }),
} satisfies Pick<BeginSession, 'store' | 'finish'> as unknown as BeginSession

// On SQLite one of the two transactions is over before the other one begins.
describe('PostgreSQL: a block that is being stored while its user signs in', () => {
  let [postgres, database]: [Postgres, Database] = [] as never
  before(async () => {
    postgres = await startPostgres()
    database = await openDatabase(postgres.url, '')
  })
  after(async () => {
    await database.close()
    await postgres.stop()
  })
  const newUser = newUsers(() => database.db, now)

  /** Signs in after a block has changed everything, and before it commits. @returns the number of sessions that are left */
  async function sessionsAfter(user: User, signIn: () => Promise<unknown>, refusal: object): Promise<number> {
    let outcome: Promise<unknown> = Promise.resolve()
    const deadline = performance.now() + timeLimit(10_000)
    await database.transaction(async (tx) => {
      await setUsersBlocked(tx, [user.id], true)
      await endBlockedSessions(tx, [user.id], now)
      const over = new AbortController()
      outcome = signIn().finally(() => over.abort())
      outcome.catch(() => undefined)
      while (!over.signal.aborted && !(await isWaited(tx)) && performance.now() < deadline) await sleep(5)
    })
    await assert.rejects(outcome, refusal)
    return (await listSessions(database.db, user.id, { now, takeoversSince: now, limit: 9 })).length
  }

  /** Whether a transaction waits for a lock of another one. */
  async function isWaited(tx: Parameters<Parameters<Database['transaction']>[0]>[0]): Promise<boolean> {
    const { rows } = await sql`select 1 from pg_locks where not granted`.execute(tx)
    return rows.length > 0
  }

  const verifyLink = () => new VerifyLink(database, sessions, { has: () => false } as never, { used: () => undefined })

  async function newLink({ id }: User, purpose: LinkPurpose): Promise<string> {
    const token = `${purpose} of ${id}`
    const link = { userId: id, tokenHash: hashToken(token), purpose, ipAddress: '', now, expiresAt: later }
    await insertLink(database.db, link)
    return token
  }

  async function newVerifiedUser(): Promise<User> {
    const user = await newUser()
    await moveUserState(database.db, user.id, 'registered', 'verified')
    return { ...user, state: 'verified' }
  }

  for (const [purpose, use] of [
    ['login', 'logIn'],
    ['signup', 'signUp'],
  ] as const)
    test(`by a ${purpose} link: the block refuses the sign-in, and no session outlives it`, async () => {
      const user = await newVerifiedUser()
      const token = await newLink(user, purpose)
      const left = await sessionsAfter(user, () => verifyLink()[use](token, client, now), { status: 403 })
      assert.equal(left, 0)
    })

  test('at a provider: the same', async (t: TestContext) => {
    const provider = await startProvider(t)
    const redirect = `${publicUrl}/api/auth/oidc/main/callback`
    await provider.order({
      client: { client_id: 'main', client_secret: oidcClient.secret, redirect_uris: [redirect], scope: 'openid email' },
    })
    const user = await newVerifiedUser()
    await provider.personIs('ann', { email: user.email, email_verified: true })
    const groups = { groupsClaim: null, groupsAbsent: 'keep', memberGroups: null, allowedGroups: null } as const
    const unused = { emailClaim: 'email', trustEmail: false, adminGroups: null, ...groups }
    const credentials = { issuer: provider.issuer, clientId: 'main', clientSecret: oidcClient.secret }
    const main = { id: 'main', displayName: 'Main', scopes: ['openid', 'email'], ...credentials, ...unused }
    const providerSignIn = new ProviderSignIn({
      registry: new ProviderRegistry([main]),
      frontendUrl: publicUrl,
      database,
      accounts: { accountOf: async () => ({ user, hasJoined: false }) } as never,
      sessions,
      seal: new Seal(Buffer.alloc(32)),
    })
    const { location, attempt } = await providerSignIn.start('main', '/')
    const { search: answer } = await atProvider(new URL(location))
    const left = await sessionsAfter(user, () => providerSignIn.finish({ answer, attempt }, client, now), {
      code: 'blocked',
    })
    assert.equal(left, 0)
  })
})
