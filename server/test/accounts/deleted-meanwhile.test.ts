import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { LinkAccounts } from '#/accounts/open-accounts.ts'
import type { Email } from '#/accounts/mail/mailer.ts'
import { type Database } from '#/store/database.ts'
import { deleteUser, findUserByEmail, insertUser } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const [email, requester] = [
  'ann@x.org',
  { address: '192.0.2.1', isLocal: false, browser: null, language: 'en' } as const,
]

/** Accounts of a store in which Ann, who has one, is deleted just before anything else is written. */
async function startWithout(t: TestContext) {
  const { database } = await openTemporaryStore(t)
  const ann = await insertUser(database.db, { email, slug: 'ann', isAdmin: false, now })
  const late: Database = {
    ...database,
    transaction: async (work) => {
      await deleteUser(database.db, ann.id)
      return database.transaction(work)
    },
  }
  const mails: Email[] = []
  const accounts = new LinkAccounts({
    database: late,
    mailer: { send: async (message) => void mails.push(message), close: () => undefined },
    settings: {
      magicLinkExpiry: 900,
      frontendUrl: 'http://berth.test',
      magicLinksPerHour: 3,
      mailboxLinksPerHour: 100,
      adminEmails: new Set(),
      reservedSlugs: new Set(),
      slugsKnown: Promise.resolve(),
      signUp: 'open',
      allowedEmailDomains: null,
      isEnumerationStrict: false,
      invitationExpiry: 900,
      newAddressesPerHour: 1_000,
    },
    onPending: () => undefined,
    log: { warn: () => undefined },
  })
  const { logIn, signUp } = accounts
  return { database, mails, logIn, signUp }
}

test('a user whose account is deleted while they request a login link is answered as one without an account', async (t) => {
  const { logIn, mails } = await startWithout(t)
  const answer = await logIn.run(email, requester, now)
  assert.equal(await logIn.run('nobody@x.org', requester, now), answer)
  assert.deepEqual(mails, [])
})

test('a request for another signup link at that moment is answered as any other', async (t) => {
  const { logIn, mails } = await startWithout(t)
  const failures: unknown[] = []
  assert.ok(await logIn.resendVerification(email, requester, now, (error) => failures.push(error)))
  assert.deepEqual([mails, failures], [[], []])
})

test('who signs up in that moment gets a new account', async (t) => {
  const { signUp, mails, database } = await startWithout(t)
  await signUp.run(email, requester, now)
  assert.match(mails[0]?.text ?? '', /\/verify-signup\?token=/)
  assert.equal((await findUserByEmail(database.db, email))?.state, 'registered')
})
