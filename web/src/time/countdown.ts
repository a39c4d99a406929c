/** A countdown as a clock shows it: 0:45, 12:05. @param seconds whole */
export const formatCountdown = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

/**
 * Whole seconds until an instant of the server's clock, 0 when it is over.
 * @param now of this machine, in ms @param ahead how far the server's clock is ahead of it, in ms
 */
export const secondsUntil = (at: string, now: number, ahead: number) =>
  Math.max(0, Math.ceil((Date.parse(at) - now - ahead) / 1000))

/** How long before its time the page ends a takeover, in ms: a later request would be refused as signed out. */
const endsBefore = 3_000

/**
 * Whole seconds that are left of a takeover; 0 when it is to be ended.
 * @param until ISO 8601, of the server's clock
 * @param now of this machine, in ms since 1970 @param ahead how far the server's clock is ahead of it, in ms
 */
export function secondsLeft(until: string, now: number, ahead: number): number {
  const left = Math.ceil((Date.parse(until) - endsBefore - now - ahead) / 1000)
  // An invalid time counts as over: an early end does no harm.
  return left > 0 ? left : 0
}

/** The minutes left that are announced to screen readers, each once: 5, and 1. */
export function minutesToAnnounce(seconds: number): 5 | 1 | undefined {
  if (seconds === 0 || seconds > 300) return undefined
  return seconds > 60 ? 5 : 1
}
