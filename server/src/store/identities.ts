import type { Db } from './database.ts'
import { fromRow, type User } from './users.ts'

/** Who a person is at an OpenID Connect provider. */
interface Identity {
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

/** What is remembered of a sign-in at a provider for the sign-out there. */
export interface ProviderSession extends Identity {
  /** Id of the provider in the settings. */
  readonly provider: string
  /** The session at the provider; null when it does not say. */
  readonly sid: string | null
  /** ID token, sealed by the caller. */
  readonly idToken: string
}

/**
 * Notes that the session of this claim `sid` began at a provider. Call it in the transaction that stores the session.
 */
export async function insertProviderSession(db: Db, ownSid: string, session: ProviderSession): Promise<void> {
  const { provider, issuer, subject, sid, idToken } = session
  const { id } = await db.selectFrom('sessions').select('id').where('sid', '=', ownSid).executeTakeFirstOrThrow()
  await db
    .insertInto('provider_sessions')
    .values({ session_id: id, provider, issuer, subject, sid, id_token: idToken })
    .execute()
}

/**
 * What is remembered of the first of these sessions that began at a provider.
 * @param ownSids claims `sid` of sessions of ours
 */
export async function findProviderSession(db: Db, ownSids: readonly string[]): Promise<ProviderSession | undefined> {
  const row = await db
    .selectFrom('provider_sessions')
    .innerJoin('sessions', 'sessions.id', 'provider_sessions.session_id')
    .selectAll('provider_sessions')
    .where('sessions.sid', 'in', ownSids)
    .orderBy('sessions.id')
    .limit(1)
    .executeTakeFirst()
  if (!row) return undefined
  const { provider, issuer, subject, sid, id_token: idToken } = row
  return { provider, issuer, subject, sid, idToken }
}
