import { withTimeout } from '#/machine/try-or-log.ts'
import { cachedFor } from '#/machine/single-flight.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'

/** Timeout of the check of one dependency, in ms. */
const timeout = 3_000
/** TTL of the cached result, in ms: the endpoint is public, so store and engine are asked at this rate at most. */
const readinessTtl = 1_000

export interface ReadinessParts {
  readonly database: Pick<Database, 'ping'>
  readonly runtime: Pick<Runtime, 'ping'>
  readonly routes: { readonly isPublished: boolean }
}

/** `ok` for each dependency, or a reason without address or path: the endpoint is public. */
export interface Readiness {
  readonly isReady: boolean
  readonly store: string
  readonly engine: string
  readonly gateway: string
}

/**
 * Readiness check of the dependencies, store and engine, and of the gateway: before it has the routes, it refuses every
 * request for a container. @returns asks the dependencies within 3 s; never rejects
 */
export function readinessCheck({ database, runtime, routes }: ReadinessParts): () => Promise<Readiness> {
  const dependencies = cachedFor(readinessTtl, async () => {
    const [store, engine] = await Promise.all([check(database.ping()), check(runtime.ping())])
    return { store, engine }
  })
  return async () => {
    const { store, engine } = await dependencies()
    const gateway = routes.isPublished ? 'ok' : 'does not have the routes yet'
    return { isReady: [store, engine, gateway].every((part) => part === 'ok'), store, engine, gateway }
  }
}

async function check(ping: Promise<void>): Promise<string> {
  const answered = ping.then(
    () => 'ok',
    () => 'does not answer',
  )
  return (await withTimeout(timeout, answered)) ?? 'does not answer in time'
}
