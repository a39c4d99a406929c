/** How long the clock has to show the same day, in ms: a time server corrects a wrong one sooner. */
const defaultSpan = 600_000
const dayLength = 86_400_000

/** Whether this day has been today's for so long that what is due on it may be removed for good. */
export type IsSettled = (now: Date) => boolean

/**
 * Tells a day from one that only a wrong clock shows, such as that of a machine without a battery until a time server answers: what
 * a retention removes cannot be made again. A day counts once it has been today's for ten minutes by the monotonic clock of this
 * process. As `OverdueDates`, for removals that ask about no single date.
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
