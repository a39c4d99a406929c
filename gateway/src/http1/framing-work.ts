/**
 * Framing that this process has parsed, in bytes: chunk size lines with the line ends behind data, and headers of WebSocket frames.
 * Parsers add to it. A byte of framing costs ten times what a byte of data does, which is only copied, and who sends them
 * chooses their number; what reads a connection therefore compares it before and after a read (see `isMostlyFraming`).
 */
export const framingWork = { bytes: 0 }

/** Framing in a read, in bytes, whose parsing takes no longer than the read itself. */
const littleFraming = 1_024

/**
 * Whether the bytes of a read cost far more to parse than to relay: a twentieth of them is framing, as of chunks of 100 bytes.
 * @param length bytes of the read @param framing those of them that are framing
 */
export function isMostlyFraming(length: number, framing: number): boolean {
  return framing > littleFraming && framing * 20 > length
}

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
