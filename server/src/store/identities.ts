import type { Db } from './database.ts'
import { fromRow, type User } from './users.ts'

/** Who a person is at an OpenID Connect provider. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** The account that an identity signs in to. */
export async function findUserByIdentity(db: Db, { issuer, subject }: Identity): Promise<User | undefined> {
  const row = await db
    .selectFrom('users')
    .innerJoin('identities', 'identities.user_id', 'users.id')
    .selectAll('users')
    .where('identities.subject', '=', subject)
    .where('identities.issuer', '=', issuer)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The subject of this issuer that signs in to an account; undefined when none does. */
export async function findSubjectOf(db: Db, userId: number, issuer: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('identities')
    .select('subject')
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .executeTakeFirst()
  return row?.subject
}

/** Whether any provider signs a user in to this account. */
export async function hasIdentity(db: Db, userId: number): Promise<boolean> {
  const row = await db.selectFrom('identities').select('id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  return row !== undefined
}

/** @throws when the identity signs in to another account, or another subject of the issuer to this one */
export async function insertIdentity(
  db: Db,
  { userId, issuer, subject, now }: Identity & { readonly userId: number; readonly now: Date },
): Promise<void> {
  await db.insertInto('identities').values({ user_id: userId, issuer, subject, created_at: now.getTime() }).execute()
}
