import type { IncomingMessage } from 'node:http'
import { refusals } from '#/errors.ts'
import { liftBodyTimeout } from '#/http/listener.ts'
import { message } from '#/messages/localized-message.ts'

export interface LongBodyLimits {
  /** Without a byte; ms. */
  readonly idle: number
  /** From begin to end; ms. */
  readonly total: number
}

const defaults: LongBodyLimits = { idle: 30_000, total: 7_200_000 }

/**
 * The body of a request as it comes, with limits for the time of the sender; a reader that is slow itself uses none of `idle`.
 * The connection stays open after an early end, so that the answer can be sent. @throws {Refusal} 409 it took too long
 */
export async function* longBody(request: IncomingMessage, limits = defaults): AsyncGenerator<Uint8Array> {
  liftBodyTimeout(request)
  const parts = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>
  const end = performance.now() + limits.total
  try {
    for (;;) {
      const next = await within(Math.min(limits.idle, end - performance.now()), parts.next())
      if (next.done) return
      yield next.value
    }
  } finally {
    // Without waiting: a sender that says nothing would keep it from ending.
    parts.return?.().catch(() => undefined)
  }
}

async function within<T>(limit: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(refusals.conflict(message('snapshots.uploadStopped'))), limit)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
