import type { ControlPlane, SessionUse } from '@berth/gateway/port/gateway.ts'

/** In ms: interval of reports, and the time between two reports of one session when the leader says no other. */
const [reportEvery, defaultInterval] = [1_000, 60_000]
/** Sessions of which it is known when they were reported; all are forgotten when there are more. */
const maxKnown = 50_000

/** Tells the leader which sessions were used here, as gateways do: each once a minute at most. */
export class UseReports {
  readonly #reportedAt = new Map<string, number>()
  #control: Pick<ControlPlane, 'reportSessionUses'> | undefined
  #interval = defaultInterval
  #pending: SessionUse[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param interval between two reports of one session, in ms */
  use(control: Pick<ControlPlane, 'reportSessionUses'>, interval = defaultInterval): void {
    this.#control = control
    this.#interval = interval
    // What was reported to an earlier leader may not have been written.
    this.#reportedAt.clear()
    this.#timer ??= setInterval(() => this.#report(), reportEvery).unref()
  }

  /** @param at ms since 1970 */
  note(sid: string, at: number): void {
    const before = this.#reportedAt.get(sid)
    if (before !== undefined && Math.abs(at - before) < this.#interval) return
    if (this.#reportedAt.size >= maxKnown) this.#reportedAt.clear()
    this.#reportedAt.set(sid, at)
    this.#pending.push({ sid, at })
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #report(): void {
    const uses = this.#pending
    if (uses.length === 0) return
    this.#pending = []
    this.#control?.reportSessionUses(uses)
  }
}
