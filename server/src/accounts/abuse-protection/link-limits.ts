import { refusals } from '#/errors.ts'
import type { Database, Tx } from '#/store/database.ts'
import { insertLinkRequest, linkRequestsSince, mailboxOf } from '#/store/users/magic-links.ts'

const hour = 3_600_000

export interface LinkLimitSettings {
  /** Of one address in a sliding hour. */
  readonly magicLinksPerHour: number
  /** Of one mailbox, whatever the tag of the address. */
  readonly mailboxLinksPerHour: number
}

/** A place of an address in its hour, taken; what is issued for it begins here. */
export interface Reservation {
  readonly requestId: number
  /** By `performance.now()`. */
  readonly begun: number
}

/** Name of the lock that whoever issues a link for an address of the mailbox holds. */
export const linkLock = (mailbox: string) => `links:${mailbox}`

/** How many links may be asked for in an hour. Source: specification, Limits; the mailbox's limit is ours. */
export class LinkLimits {
  readonly #database: Pick<Database, 'lock'>
  readonly #settings: LinkLimitSettings

  constructor(database: Pick<Database, 'lock'>, settings: LinkLimitSettings) {
    this.#database = database
    this.#settings = settings
  }

  /**
   * Takes one of the address's places in the current hour; call it in the transaction that issues the link. It holds the
   * mailbox's lock, so that parallel requests cannot all find the last place free.
   * @throws {Refusal} 429 with `Retry-After` when the hour is full
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
