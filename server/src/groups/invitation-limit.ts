import { refusals } from '#/refusals/errors.ts'

/** Max invitations of one manager that are mailed within an hour: one list, or a lecture. */
const maxPerHour = 500
const hour = 3_600_000

/** Mails of one request. */
interface Batch {
  readonly at: number
  mails: number
}

/**
 * Counts the invitations that each manager has mailed, in a sliding hour: managers need not be trusted as administrators are,
 * and mail servers have a quota, which sign-ins need. In memory: a start of Berth begins anew.
 */
export class InvitationLimit {
  readonly #batches = new Map<number, Batch[]>()
  readonly #now: () => number

  /** @param now ms, monotonic; for tests */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /**
   * Counts mails before they are sent, so that many requests at once are no way around the limit.
   * @returns to be called with the number of those that were not sent @throws {Refusal} 429 when there are too many; then none counts
   */
  count(userId: number, mails: number): (unsent: number) => void {
    const now = this.#now()
    this.#forgetOld(now)
    const recent = this.#batches.get(userId) ?? []
    let over = recent.reduce((sum, batch) => sum + batch.mails, mails) - maxPerHour
    if (over > 0) {
      const last = recent.find((batch) => (over -= batch.mails) <= 0)
      throw refusals.tooManyInvitations(maxPerHour, Math.ceil(((last?.at ?? now) + hour - now) / 1_000))
    }
    const batch = { at: now, mails }
    this.#batches.set(userId, [...recent, batch])
    return (unsent) => void (batch.mails -= unsent)
  }

  #forgetOld(now: number): void {
    for (const [userId, batches] of this.#batches) {
      const left = batches.filter(({ at, mails }) => at > now - hour && mails > 0)
      if (left.length > 0) this.#batches.set(userId, left)
      else this.#batches.delete(userId)
    }
  }
}
