/**
 * Milliseconds since 1970, a little late: asking the system at every byte that moves would cost more than moving it.
 * Whoever owns the gateway's timers moves it on.
 */
export const clock = { now: Date.now() }

/** How late the clock may be, in ms. */
export const clockStep = 50
