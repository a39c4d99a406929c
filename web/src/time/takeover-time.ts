/** How long before its time a takeover is ended here, in ms: a press made later would be refused as somebody who is signed out. */
export const endsBefore = 3_000

/**
 * Whole seconds of a takeover that are left for whoever acts; 0 when it is to be ended.
 * @param until ISO 8601, of the server's clock
 * @param now of this machine, in ms since 1970 @param ahead how far the server's clock is ahead of it, in ms
 */
export function secondsLeft(until: string, now: number, ahead: number): number {
  const left = Math.ceil((Date.parse(until) - endsBefore - now - ahead) / 1000)
  // What cannot be read has no time left: an end too early harms nobody.
  return left > 0 ? left : 0
}

/** Minutes of which those who cannot see the clock are told, each once: with 5 left, and with 1. */
export function minutesToTell(seconds: number): 5 | 1 | undefined {
  if (seconds === 0 || seconds > 300) return undefined
  return seconds > 60 ? 5 : 1
}
