import type { AuditEntry } from './audit-log.ts'
import type { StoredApiToken } from './api-tokens.ts'

/** Audit entry about an API token; its target is the owner, and the token itself is in none. */
export const apiTokenEntry = (
  action: 'token.create' | 'token.use' | 'token.remove',
  actor: AuditEntry['actor'],
  { id, userId, name, scopes, expiresAt }: StoredApiToken,
  at: Date,
): AuditEntry => ({
  at,
  actor,
  action,
  target: `user:${userId}`,
  detail: { token: id, name, scopes, expires_at: expiresAt },
})
