import type { Db } from '../database.ts'
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
