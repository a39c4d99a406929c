import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What has expired is looked for every half minute, in the turn of whoever writes: without these all rows are read for it. */
export const expiryIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    const index = (name: string) => db.schema.createIndex(name).ifNotExists()
    await index('link_requests_time').on('link_requests').columns(['requested_at']).execute()
    await index('revoked_tokens_expiry').on('revoked_tokens').columns(['expires_at']).execute()
  },
}
