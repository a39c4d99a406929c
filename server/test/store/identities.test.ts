import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '#/store/database.ts'
import { findSubjectOf, findUserByIdentity, insertIdentity, insertProviderSession } from '#/store/identities.ts'
import { insertSession } from '#/store/sessions.ts'
import { deleteUser, insertUser } from '#/store/users.ts'
import { dialects, now, useStore } from '../support/store/both-databases.ts'

const issuer = 'https://login.example.org'

for (const dialect of dialects) {
  describe(dialect, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))
    const userOf = (slug: string) => insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })

    test('an identity signs in to one account, and an account has one subject of each issuer', async () => {
      const { db } = database
      const [ann, ben] = [await userOf('ann'), await userOf('ben')]
      await insertIdentity(db, { userId: ann.id, issuer, subject: '1', now })
      assert.deepEqual(await findUserByIdentity(db, { issuer, subject: '1' }), ann)
      assert.equal(await findUserByIdentity(db, { issuer: `${issuer}/other`, subject: '1' }), undefined)
      assert.equal(await findSubjectOf(db, ann.id, issuer), '1')
      assert.equal(await findSubjectOf(db, ben.id, issuer), undefined)
      await assert.rejects(insertIdentity(db, { userId: ben.id, issuer, subject: '1', now }))
      await assert.rejects(insertIdentity(db, { userId: ann.id, issuer, subject: '2', now }))
      await insertIdentity(db, { userId: ann.id, issuer: `${issuer}/other`, subject: '1', now })
    })

    test('what is known of an account at its providers goes with the account', async () => {
      const { db } = database
      const { id } = await userOf('cat')
      await insertIdentity(db, { userId: id, issuer, subject: '3', now })
      const session = { userId: id, sid: 'era.3', createdAt: now, expiresAt: now, tokenExpiresAt: now }
      const client = { address: '', browser: null, acting: null }
      await insertSession(db, { ...session, ...client, began: 'oidc:main', cookieHash: null })
      const known = { provider: 'main', issuer, subject: '3', sid: null, idToken: 'sealed' }
      await insertProviderSession(db, 'era.3', known)
      await deleteUser(db, id)
      assert.equal(await findUserByIdentity(db, { issuer, subject: '3' }), undefined)
      assert.deepEqual(await db.selectFrom('provider_sessions').selectAll().execute(), [])
    })
  })
}
