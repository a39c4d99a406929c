import { withTimeout } from '#/concurrency/try-or-log.ts'
import { cachedFor } from '#/concurrency/ttl-cache.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'

/** Timeout of the check of one dependency, in ms. */
const timeout = 3_000
/** TTL of the cached result, in ms: the endpoint is public, so store and engine are asked at this rate at most. */
const readinessTtl = 1_000

export interface HealthParts {
  readonly database: Pick<Database, 'ping'>
  readonly runtime: Pick<Runtime, 'ping'>
}

/** Health checks: liveness (`/healthz`) and readiness (`/readyz`). */
export function healthHandlers({ database, runtime }: HealthParts): Pick<Handlers, 'health' | 'ready'> {
  const readiness = cachedFor(readinessTtl, () => Promise.all([check(database.ping()), check(runtime.ping())]))
  return {
    health: () => ({ status: 'ok' }),
    ready: async ({ reply }) => {
      const [store, engine] = await readiness()
      const isReady = store === 'ok' && engine === 'ok'
      if (!isReady) void reply.status(503)
      return { status: isReady ? 'ready' : 'not ready', parts: { store, engine } }
    },
  }
}

/** `ok`, or a reason without address or path: the endpoint is public. */
async function check(ping: Promise<void>): Promise<string> {
  const answered = ping.then(
    () => 'ok',
    () => 'does not answer',
  )
  return (await withTimeout(timeout, answered)) ?? 'does not answer in time'
}
