import { addIndex, type Up } from './columns.ts'

/**
 * Indexes for expired rows, which are deleted every 30 s under the write lock: without them every row is read for it.
 */
export const expiryIndexes: Up = async (db) => {
  await addIndex(db, 'link_requests_time', 'link_requests', ['requested_at'])
  await addIndex(db, 'revoked_tokens_expiry', 'revoked_tokens', ['expires_at'])
}
