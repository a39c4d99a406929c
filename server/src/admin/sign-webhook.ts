import { createHmac } from 'node:crypto'

/** A message of a webhook: the same id at each attempt, so that a receiver knows what it has already. */
export interface WebhookMessage {
  /** Without a full stop, which separates it in the signed text. */
  readonly id: string
  readonly body: string
}

/**
 * Headers of a message (Standard Webhooks 1.0.0, "Webhook headers" and "Signature scheme"): HMAC-SHA256 over id, timestamp
 * and body. With several secrets there is a signature of each, so that a receiver can change from one to the next.
 * @param secrets decoded @param at of this attempt: receivers refuse old ones
 */
export function webhookHeaders(
  { id, body }: WebhookMessage,
  secrets: readonly Buffer[],
  at: Date,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
