/** How long the clock has to show the same day, or a date has to be over, in ms: a time server corrects a wrong clock sooner. */
const defaultSpan = 600_000
const dayLength = 86_400_000

/** Whether this day has been today's for so long that what is due on it may be removed for good. */
export type IsSettled = (now: Date) => boolean

/**
 * Tells a day from one that only a wrong clock shows, such as that of a machine without a battery until a time server answers: what
 * a retention removes cannot be made again. A day counts once it has been today's for ten minutes by the monotonic clock of this
 * process. `OverdueDates` does the same for one date.
 * @param span ms @param steady monotonic, in ms; for tests
 */
export function settledDay(span = defaultSpan, steady: () => number = () => performance.now()): IsSettled {
  let [today, since] = [-1, 0]
  return (now) => {
    const day = Math.floor(now.getTime() / dayLength)
    if (day !== today) [today, since] = [day, steady()]
    return steady() - since >= span
  }
}

/**
 * Tells a date that is over from one that only a wrong clock shows as over: what it leads to cannot be undone. A date counts as
 * over once it has been so at each look for some time by the monotonic clock of this process; a new process begins anew.
 */
export class OverdueDates {
  readonly #span: number
  readonly #steady: () => number
  /** First look since which it is over, by `steady`, by id and date. */
  readonly #since = new Map<number, Map<number, number>>()

  /** @param span ms @param steady monotonic, in ms; for tests */
  constructor(span: number = defaultSpan, steady: () => number = () => performance.now()) {
    this.#span = span
    this.#steady = steady
  }

  /** To be asked regularly. @param id of what has the date */
  isOver(id: number, date: Date): boolean {
    const [now, key] = [this.#steady(), date.getTime()]
    const dates = this.#since.get(id) ?? new Map<number, number>()
    if (key > Date.now()) {
      dates.delete(key)
      return false
    }
    const since = dates.get(key) ?? now
    this.#since.set(id, dates.set(key, since))
    return now - since >= this.#span
  }

  forget(id: number): void {
    this.#since.delete(id)
  }
}
