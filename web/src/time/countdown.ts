/** A countdown as a clock shows it: 0:45, 12:05. @param seconds whole */
export const formatCountdown = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

/**
 * Whole seconds until an instant of the server's clock, 0 when it is over.
 * @param now of this machine, in ms @param ahead how far the server's clock is ahead of it, in ms
 */
export const secondsUntil = (at: string, now: number, ahead: number) =>
  Math.max(0, Math.ceil((Date.parse(at) - now - ahead) / 1000))
