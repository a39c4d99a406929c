import { askServer } from '#/machine/outgoing-request.ts'
import { webhookHeaders, type WebhookMessage } from './sign-webhook.ts'

/** Timeout of one attempt, in ms, from the connection to the head of the answer. */
const defaultTimeout = 15_000

export interface WebhookTarget {
  readonly url: string
  /** Decoded; the first one is the present one. */
  readonly secrets: readonly Buffer[]
  /** ms */
  readonly timeout?: number
}

/** Why a message was not accepted, in words for the log: no address, path or query, which may contain a secret. */
export class NotAccepted extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotAccepted'
  }
}

/**
 * Sends one message, once. Redirects are not followed: the receiver is the address that the operator wrote.
 * @throws {NotAccepted} for any other answer than 2xx, and for none
 */
export async function sendWebhook(
  { url, secrets, timeout = defaultTimeout }: WebhookTarget,
  message: WebhookMessage,
  signal: AbortSignal,
): Promise<void> {
  const answer = await askServer(url, {
    method: 'POST',
    headers: { ...webhookHeaders(message, secrets, new Date()), 'user-agent': 'Berth' },
    body: message.body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
  }).catch((error: unknown) => {
    throw new NotAccepted(reasonOf(error, timeout))
  })
  // Unread: it means nothing, and may be endless.
  answer.discard()
  if (answer.status < 200 || answer.status > 299) throw new NotAccepted(`status ${answer.status}`)
}

/** The code of the system or of TLS; messages may contain the address. */
function reasonOf(error: unknown, timeout: number): string {
  const { name, code } = Object(error) as { name?: string; code?: unknown }
  if (name === 'TimeoutError') return `no answer within ${timeout / 1_000} s`
  return typeof code === 'string' ? code : 'the connection failed'
}
