/** Times of the graceful shutdown, in ms after a signal to stop (and after `DRAIN_TIME`). Service managers wait for 25 s or more. */

/** How long what is under way may take. `app.ts` has the same time for requests of the API. */
export const drainTimeout = 15_000
/** When whatever still hangs is cut off, and the process ends. */
export const stopTimeout = 19_000
