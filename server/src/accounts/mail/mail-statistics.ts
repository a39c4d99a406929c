import {
  DurationHistogram,
  minutesBounds,
  percentilesOf,
  type Percentiles,
} from '@berth/gateway/basics/duration-histogram.ts'

/** Max durations that are kept; older ones say nothing about the mail server of today. */
const maxKept = 1_000
/** Max failures that are kept. */
const maxFailures = 50

/** A mail that was not accepted. */
export interface MailFailure {
  readonly at: Date
  readonly to: string
  readonly kind: 'signup' | 'login'
  /** The text that `failureReason` makes. */
  readonly reason: string
}

/** Mail statistics since the process began. */
export interface MailReport {
  readonly accepted: number
  readonly failed: number
  /** Requested links of accepted mails that were used. */
  readonly used: number
  /** From the acceptance by the mail server to the use of the link; null before the first. */
  readonly secondsToUse: Percentiles | null
  readonly secondsToAccept: Percentiles | null
  readonly lastFailureAt: Date | null
  /** The latest, the newest first; 50 at most. */
  readonly failures: readonly MailFailure[]
}

/**
 * Counts mails and their durations: until our mail server accepts them, and until their links are used. The second one
 * shows delays on the way to the mailbox, which no server reports.
 */
export class MailStatistics {
  readonly #toAccept = new RecentDurations()
  readonly #toUse = new RecentDurations()
  readonly #failures: MailFailure[] = []
  #failed = 0
  #inProgress = 0

  /** A mail goes to the mail server. @returns called once when it was accepted or failed */
  begin(): () => void {
    this.#inProgress++
    return () => void this.#inProgress--
  }

  /** The mail server accepted a mail. @param ms duration */
  accepted(ms: number): void {
    this.#toAccept.add(ms)
  }

  failed(failure: MailFailure): void {
    this.#failed++
    this.#failures.unshift(failure)
    this.#failures.length = Math.min(this.#failures.length, maxFailures)
  }

  /** The link of a mail was used. @param ms since the mail was accepted */
  used(ms: number): void {
    this.#toUse.add(ms)
  }

  report(): MailReport {
    return {
      accepted: this.#toAccept.count,
      failed: this.#failed,
      used: this.#toUse.count,
      secondsToUse: this.#toUse.spread(),
      secondsToAccept: this.#toAccept.spread(),
      lastFailureAt: this.#failures[0]?.at ?? null,
      failures: [...this.#failures],
    }
  }

  /** Numbers for `/metrics`, by name; those that are not known yet are left out. */
  counts(): Readonly<Record<string, number>> {
    const { accepted, failed, used, lastFailureAt } = this.report()
    return {
      berth_mail_accepted_total: accepted,
      berth_mail_failed_total: failed,
      berth_mail_links_used_total: used,
      berth_mails_in_progress: this.#inProgress,
      ...this.#toAccept.histogram.series('berth_mail_seconds_to_accept'),
      ...this.#toUse.histogram.series('berth_mail_seconds_to_use'),
      ...(lastFailureAt && { berth_mail_last_failure_timestamp_seconds: lastFailureAt.getTime() / 1_000 }),
    }
  }
}

/** Counts all durations, and keeps the latest. */
class RecentDurations {
  /** ms; the oldest is replaced. */
  readonly #times: number[] = []
  readonly histogram = new DurationHistogram(minutesBounds)
  count = 0

  add(ms: number): void {
    this.#times[this.count % maxKept] = Math.max(0, ms)
    this.histogram.observe(ms)
    this.count++
  }

  spread(): Percentiles | null {
    return percentilesOf(this.#times)
  }
}
