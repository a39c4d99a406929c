import { refusals } from '#/refusals/errors.ts'
import type { Database, Tx } from '#/store/database.ts'
import { insertLinkRequest, linkRequestsSince, mailboxOf } from '#/store/magic-links.ts'

const hour = 3_600_000

export interface LinkLimitSettings {
  /** Of one address in a sliding hour. */
  readonly magicLinksPerHour: number
  /** Of one mailbox, whatever the plus tag of the address. */
  readonly mailboxLinksPerHour: number
}

/** A counted request of an address; its link is issued next. */
export interface Reservation {
  readonly requestId: number
  /** By `performance.now()`. */
  readonly begun: number
}

/** Name of the lock that is held while a link for an address of the mailbox is issued. */
export const linkLock = (mailbox: string) => `links:${mailbox}`

/** Rate limit of links per hour. Source: specification, Limits; the mailbox's limit is ours. */
export class LinkLimits {
  readonly #database: Pick<Database, 'lock'>
  readonly #settings: LinkLimitSettings

  constructor(database: Pick<Database, 'lock'>, settings: LinkLimitSettings) {
    this.#database = database
    this.#settings = settings
  }

  /**
   * Counts a request of the address in the current hour; call it in the transaction that issues the link. It holds the
   * mailbox's lock, so that concurrent requests cannot exceed the limit.
   * @throws {Refusal} 429 with `Retry-After` when the limit is reached
   */
  async reserve(tx: Tx, email: string, now: Date): Promise<Reservation> {
    const begun = performance.now()
    const mailbox = mailboxOf(email)
    await this.#database.lock(tx, linkLock(mailbox))
    const since = new Date(now.getTime() - hour)
    const { magicLinksPerHour, mailboxLinksPerHour } = this.#settings
    refuseWhenFull(magicLinksPerHour, await linkRequestsSince(tx, email, since), now)
    refuseWhenFull(mailboxLinksPerHour, await linkRequestsSince(tx, mailbox, since, 'mailbox'), now)
    return { requestId: await insertLinkRequest(tx, email, now), begun }
  }
}

/** @param earlier within the last hour, oldest first */
function refuseWhenFull(perHour: number, earlier: readonly Date[], now: Date): void {
  const oldestCounting = earlier[earlier.length - perHour]
  if (!oldestCounting) return
  const wait = oldestCounting.getTime() + hour - now.getTime()
  throw refusals.tooManyLinks(perHour, Math.max(1, Math.ceil(wait / 1000)))
}
