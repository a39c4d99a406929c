/** How long a date has to be over, in ms: a time server corrects a wrong clock sooner. */
const defaultSpan = 600_000

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
