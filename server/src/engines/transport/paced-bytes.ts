import { setTimeout as sleep } from 'node:timers/promises'

/** Output that is followed: bytes per second, and bytes that may come at once, such as earlier lines. */
const [rate, burst] = [256 * 1024, 2 * 1024 * 1024]

/**
 * Reads no faster than a rate: what has no line end is dropped without a listener that could slow it down, so that a program
 * that writes as fast as it can occupied this process for each page that follows its output.
 * @param signal ends the pause; the source then ends by itself, or throws
 */
export async function* pacedBytes(source: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  let [room, at] = [burst, performance.now()]
  for await (const bytes of source) {
    yield bytes
    const now = performance.now()
    room = Math.min(burst, room + ((now - at) / 1_000) * rate) - bytes.length
    at = now
    if (room < 0) await sleep((-room / rate) * 1_000, undefined, { signal }).catch(() => undefined)
  }
}
