import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { askServer } from '#/machine/outgoing-request.ts'
import {
  auditHead,
  listAuditEntriesAfter,
  saveWebhookPosition,
  webhookPosition,
  type ChainedAuditEntry,
} from '#/store/audit-log.ts'
import type { Db } from '#/store/database.ts'

/** Entries that are read at once. */
const pageSize = 100
/** Interval at which entries are read, and first and last pause after a failure, in ms. */
const defaultPace = { poll: 2_000, firstRetry: 1_000, lastRetry: 300_000 }
/** Age of the oldest entry that is not delivered at which operators are warned, in ms. */
const maxLag = 300_000

/** In ms. */
export type AuditWebhookPace = Partial<typeof defaultPace>

export interface AuditWebhookParts {
  readonly db: Db
  readonly target: WebhookTarget
  readonly installation: string
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Shorter times, for tests. */
  readonly pace?: AuditWebhookPace
}

/**
 * Delivers the entries of the audit log to a webhook: each at least once (at-least-once delivery) and in order. The
 * position of the last one is in the store, so nothing is lost by an end of this process; an entry whose answer was not
 * recorded is sent again with the same id. An entry that is not accepted holds back the later ones.
 */
export class AuditWebhook {
  readonly #parts: AuditWebhookParts
  readonly #pace: typeof defaultPace
  readonly #stopped = new AbortController()
  #running: Promise<void> | undefined
  /** Last delivered entry; undefined until it was read from the store. */
  #position: number | undefined
  /** Position in the store: behind `#position` when it could not be written. */
  #saved = 0
  #waiting = 0
  /** Time of the oldest entry that waits. */
  #waitsSince: Date | undefined
  #failures = 0
  #reason: string | undefined
  #sent = 0
  #failed = 0

  constructor(parts: AuditWebhookParts) {
    this.#parts = parts
    this.#pace = { ...defaultPace, ...parts.pace }
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends what is under way; what was not recorded is sent again by the next process. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
  }

  /** For the system report. */
  warnings(now = new Date()): LocalizedMessage[] {
    if (this.#reason === undefined || this.#lag(now) < maxLag) return []
    const since = (this.#waitsSince ?? now).toISOString()
    return [message('findings.auditWebhookLags', { count: this.#waiting, since, reason: this.#reason })]
  }

  /** Numbers for `/metrics`, by name. */
  counts(): Readonly<Record<string, number>> {
    return {
      berth_audit_webhook_sent_total: this.#sent,
      berth_audit_webhook_failures_total: this.#failed,
      berth_audit_webhook_waiting: this.#waiting,
      berth_audit_webhook_lag_seconds: this.#lag(new Date()) / 1_000,
    }
  }

  #lag(now: Date): number {
    return this.#waitsSince ? Math.max(0, now.getTime() - this.#waitsSince.getTime()) : 0
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      const isDone = await this.#deliver()
      this.#failures = isDone ? 0 : this.#failures + 1
      await sleep(isDone ? this.#pace.poll : this.#pause(), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /**
   * Exponential backoff with jitter: half of it is random, so that a receiver that comes back is not met by all its
   * senders at once.
   */
  #pause(): number {
    const { firstRetry, lastRetry } = this.#pace
    const pause = Math.min(lastRetry, firstRetry * 2 ** Math.min(this.#failures - 1, 20))
    return pause / 2 + (Math.random() * pause) / 2
  }

  /** Delivers all that waits. @returns false after a failure, of the receiver or of the store */
  async #deliver(): Promise<boolean> {
    const { db } = this.#parts
    try {
      this.#position ??= this.#saved = await webhookPosition(db)
      if (this.#saved !== this.#position) await this.#save(this.#position)
      for (let page = await this.#nextPage(); page.length > 0; page = await this.#nextPage()) {
        for (const entry of page) await this.#send(entry)
      }
      return true
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#noteFailure(error)
      return false
    }
  }

  async #nextPage(): Promise<ChainedAuditEntry[]> {
    const { db } = this.#parts
    const position = this.#position ?? 0
    this.#waiting = Math.max(0, (await auditHead(db)).entries - position)
    if (this.#waiting === 0) {
      this.#waitsSince = undefined
      return []
    }
    return listAuditEntriesAfter(db, position, pageSize)
  }

  async #send(entry: ChainedAuditEntry): Promise<void> {
    const { target, installation, log } = this.#parts
    this.#waitsSince = entry.at
    await sendWebhook(target, auditMessage(installation, entry), this.#stopped.signal)
    this.#sent++
    this.#waiting = Math.max(0, this.#waiting - 1)
    this.#position = entry.id
    if (this.#reason !== undefined) log.info('the audit webhook accepts entries again')
    this.#reason = undefined
    this.#failures = 0
    await this.#save(entry.id)
  }

  async #save(position: number): Promise<void> {
    await saveWebhookPosition(this.#parts.db, position)
    this.#saved = position
  }

  /** Logged when it begins and when its reason changes, not at each attempt. */
  #noteFailure(error: unknown): void {
    this.#failed++
    const isReceiver = error instanceof NotAccepted
    const reason = isReceiver ? error.message : 'the store does not answer'
    const facts = isReceiver ? { reason } : { reason, err: error }
    if (reason !== this.#reason)
      this.#parts.log.warn(facts, 'the audit webhook does not get its entries; they are kept')
    this.#reason = reason
  }
}

/** Characters of the hash in an id: enough that another entry at the same position has another id. */
const hashLength = 16

/**
 * An entry as a message (Standard Webhooks 1.0.0, "Payload structure"). Its id has the position and the hash: after the
 * restore of an older store another entry takes the position, and must not look like a repetition.
 * @param installation name of this installation
 */
function auditMessage(installation: string, entry: ChainedAuditEntry): WebhookMessage {
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

/** Timeout of one attempt, in ms, from the connection to the head of the answer. */
const defaultTimeout = 15_000

interface WebhookTarget {
  readonly url: string
  /** Decoded; the first one is the present one. */
  readonly secrets: readonly Buffer[]
  /** ms */
  readonly timeout?: number
}

/** Why a message was not accepted, in words for the log: no address, path or query, which may contain a secret. */
class NotAccepted extends Error {
  override readonly name = 'NotAccepted'
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

/** A message of a webhook: the same id at each attempt, so that a receiver knows what it has already. */
interface WebhookMessage {
  /** Without a full stop, which separates it in the signed text. */
  readonly id: string
  readonly body: string
}

/**
 * Headers of a message (Standard Webhooks 1.0.0, "Webhook headers" and "Signature scheme"): HMAC-SHA256 over id,
 * timestamp and body. With several secrets there is a signature of each, so that a receiver can change from one to the
 * next.
 * @param secrets decoded @param at of this attempt: receivers refuse old ones
 */
function webhookHeaders(
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
