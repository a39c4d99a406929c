import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Indexes for expired rows, which are deleted every 30 s under the write lock: without them every row is read for it.
 */
export const expiryIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    const index = (name: string) => db.schema.createIndex(name).ifNotExists()
    await index('link_requests_time').on('link_requests').columns(['requested_at']).execute()
    await index('revoked_tokens_expiry').on('revoked_tokens').columns(['expires_at']).execute()
  },
}
