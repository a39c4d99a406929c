/** What waits for a turn of the event loop of its own, in the order in which it came. */
const waiting: (() => void)[] = []

/**
 * Calls back in a later turn of the event loop, one in each: what costs much time is done between the reads of all other connections,
 * however many connections cause it.
 */
export function inTurnOfItsOwn(callback: () => void): void {
  if (waiting.push(callback) === 1) setImmediate(callNext)
}

function callNext(): void {
  const next = waiting.shift()
  if (waiting.length > 0) setImmediate(callNext)
  next?.()
}
