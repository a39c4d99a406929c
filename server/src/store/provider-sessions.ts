import type { Db } from './database.ts'
import type { Identity } from './identities.ts'

/** What is remembered of a sign-in at a provider for the sign-out there. */
export interface ProviderSession extends Identity {
  /** Id of the provider in the settings. */
  readonly provider: string
  /** The session at the provider; null when it does not say. */
  readonly sid: string | null
  /** As the caller sealed it. */
  readonly idToken: string
}

/** Notes that the session of this claim `sid` began at a provider. Call it in the transaction that stores the session. */
export async function insertProviderSession(db: Db, ownSid: string, session: ProviderSession): Promise<void> {
  const { provider, issuer, subject, sid, idToken } = session
  const { id } = await db.selectFrom('sessions').select('id').where('sid', '=', ownSid).executeTakeFirstOrThrow()
  await db
    .insertInto('provider_sessions')
    .values({ session_id: id, provider, issuer, subject, sid, id_token: idToken })
    .execute()
}

/** What is remembered of the first of these sessions that began at a provider. @param ownSids claims `sid` of sessions of ours */
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
