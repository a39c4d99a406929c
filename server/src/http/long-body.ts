import type { IncomingMessage } from 'node:http'
import { refusals } from '#/refusals/errors.ts'
import { suspendBodyTimeout } from './listener.ts'
import { formatBytes, message } from '@berth/texts/localized-message.ts'

export interface LongBodyLimits {
  /** Without a byte; ms. */
  readonly idle: number
  /** From begin to end; ms. */
  readonly total: number
  /** Bytes that come at least within each `pace.time` ms in which they are waited for. */
  readonly pace: { readonly bytes: number; readonly time: number }
}

const defaults: LongBodyLimits = {
  idle: 30_000,
  total: 7_200_000,
  // 140 kbit/s. A sender of one byte in 20 s kept its place, one of eight for all users, for two hours.
  pace: { bytes: 1024 ** 2, time: 60_000 },
}

/**
 * The body of a request as it comes, with limits for the time of the sender alone: before the first byte is asked for,
 * and while the reader is slow itself, none of it passes. The connection stays open after an early end, so that the
 * answer can be sent; what the sender goes on with then has the time of other bodies.
 * @param work gets the body, whose iteration throws {Refusal} 409 when it does not come to its end: the sender went
 * away, or
 *   took too long, or is too slow
 * @returns what the work does
 */
export async function withLongBody<T>(
  request: IncomingMessage,
  work: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  limits = defaults,
): Promise<T> {
  const resume = suspendBodyTimeout(request)
  try {
    return await work(partsOf(request, limits))
  } finally {
    resume()
  }
}

async function* partsOf(request: IncomingMessage, limits: LongBodyLimits): AsyncGenerator<Uint8Array> {
  const parts = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>
  const end = performance.now() + limits.total
  const pace = new Pace(limits.pace)
  try {
    for (;;) {
      const asked = performance.now()
      const next = await within(Math.min(limits.idle, end - asked), parts.next())
      if (next.done) return
      pace.require(next.value.length, performance.now() - asked)
      yield next.value
    }
  } finally {
    // Without waiting: a sender that says nothing would keep it from ending.
    parts.return?.().catch(() => undefined)
  }
}

/** How fast a sender is, by the time alone in which its bytes are waited for. */
class Pace {
  readonly #min: LongBodyLimits['pace']
  #bytes = 0
  #waited = 0

  constructor(min: LongBodyLimits['pace']) {
    this.#min = min
  }

  /** @throws {Refusal} 409 the sender is too slow */
  require(bytes: number, waited: number): void {
    this.#bytes += bytes
    this.#waited += waited
    if (this.#waited < this.#min.time) return
    if (this.#bytes < this.#min.bytes)
      throw refusals.conflict(message('snapshots.uploadTooSlow', { size: formatBytes(this.#min.bytes) }))
    this.#bytes = this.#waited = 0
  }
}

/** The only failure of the body of a request is that its connection ends. */
async function within<T>(limit: number, next: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  using _ = setTimeout(late.reject, limit)
  try {
    return await Promise.race([next, late.promise])
  } catch {
    throw refusals.conflict(message('snapshots.uploadStopped'))
  }
}
