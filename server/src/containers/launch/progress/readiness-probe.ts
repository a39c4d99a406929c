import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** First and max pause between two attempts, and timeout of one attempt, in ms. */
const [firstPause, maxPause, connectTimeout] = [100, 1_000, 1_000]

/**
 * Readiness probe: tries with backoff until the app accepts TCP connections. Sends no bytes, so that it does not
 * disturb the app.
 * @param timeout ms @returns false when the timeout or the signal comes first
 */
export async function waitForReadiness(
  { host, port }: { readonly host: string; readonly port: number },
  timeout: number,
  signal: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + timeout
  for (let pause = firstPause; !signal.aborted; pause = Math.min(pause * 1.5, maxPause)) {
    if (await accepts(host, port)) return !signal.aborted
    if (performance.now() + pause > end) return false
    await sleep(pause, undefined, { ref: false, signal }).catch(() => undefined)
  }
  return false
}

async function accepts(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port })
  const limit = setTimeout(() => resolve(false), connectTimeout).unref()
  socket.unref()
  socket.once('connect', () => resolve(true)).on('error', () => resolve(false))
  try {
    return await promise
  } finally {
    clearTimeout(limit)
    socket.destroy()
  }
}
