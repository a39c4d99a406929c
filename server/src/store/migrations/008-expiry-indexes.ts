import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addIndex } from './columns.ts'

/**
 * Indexes for expired rows, which are deleted every 30 s under the write lock: without them every row is read for it.
 */
export const expiryIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    await addIndex(db, 'link_requests_time', 'link_requests', ['requested_at'])
    await addIndex(db, 'revoked_tokens_expiry', 'revoked_tokens', ['expires_at'])
  },
}
