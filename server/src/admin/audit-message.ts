import type { ChainedAuditEntry } from '#/store/webhook-position.ts'
import type { WebhookMessage } from './sign-webhook.ts'

/** Characters of the hash in an id: enough that another entry at the same position has another id. */
const hashLength = 16

/**
 * An entry as a message (Standard Webhooks 1.0.0, "Payload structure"). Its id has the position and the hash: after the
 * restore of an older store another entry takes the position, and must not look like a repetition.
 * @param installation name of this installation
 */
export function auditMessage(installation: string, entry: ChainedAuditEntry): WebhookMessage {
  const { id, at, actor, action, target, detail, hash } = entry
  return {
    id: `audit_${installation}_${id}_${hash.slice(0, hashLength)}`,
    body: JSON.stringify({
      type: `audit.${action}`,
      timestamp: at.toISOString(),
      data: { id, at: at.toISOString(), actor, action, target, detail, hash, installation },
    }),
  }
}
