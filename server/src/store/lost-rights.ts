import type { Db } from './database.ts'

/** An API token that was deleted, and whose it was. */
export interface DeletedApiToken {
  readonly id: number
  readonly userId: number
}

/** What follows the deletion of a token, once it is stored. */
export interface ApiTokenEffects {
  /** Ends the event and log streams that were opened with it. */
  endStreams(ended: DeletedApiToken): void
}

/** Deletes the API tokens of users who are blocked now; they do not come back with an unblock. */
export async function deleteApiTokensOf(tx: Db, userIds: readonly number[]): Promise<void> {
  if (userIds.length > 0) await tx.deleteFrom('api_tokens').where('user_id', 'in', userIds).execute()
}

/** Deletes the API tokens with an administrator's scope of a user who is no administrator any more. */
export async function deleteAdminApiTokensOf(tx: Db, userId: number): Promise<DeletedApiToken[]> {
  const rows = await tx
    .deleteFrom('api_tokens')
    .where('user_id', '=', userId)
    .where('scopes', 'like', '%admin:%')
    .returning(['id', 'user_id'])
    .execute()
  return rows.map((row) => ({ id: row.id, userId: row.user_id }))
}
