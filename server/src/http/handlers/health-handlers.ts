import { openApiDocument } from '@berth/api/openapi.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { withTimeout } from '#/concurrency/try-or-log.ts'
import { cachedFor } from '#/concurrency/ttl-cache.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'

/** How long a part may take to answer before it counts as not answering, in ms. */
const timeout = 3_000
/** Strangers may ask, so store and engine are asked once in so many ms however often that is. */
const readinessTtl = 1_000

export interface HealthParts {
  readonly database: Database
  readonly runtime: Runtime
  readonly key: SigningKeys
  readonly spawnerUrl: string
}

export function healthHandlers({
  database,
  runtime,
  key,
  spawnerUrl,
}: HealthParts): Pick<Handlers, 'health' | 'ready' | 'jwks' | 'openApi'> {
  const document = openApiDocument(spawnerUrl)
  const readiness = cachedFor(readinessTtl, () => Promise.all([check(database.ping()), check(runtime.ping())]))
  const text = JSON.stringify(document)
  return {
    health: () => ({ status: 'ok' }),
    ready: async ({ reply }) => {
      const [store, engine] = await readiness()
      const isReady = store === 'ok' && engine === 'ok'
      if (!isReady) void reply.status(503)
      return { status: isReady ? 'ready' : 'not ready', parts: { store, engine } }
    },
    jwks: () => ({ keys: key.jwks.keys.map((each) => ({ ...each })) }),
    openApi: ({ reply }) => {
      void reply.type('application/json; charset=utf-8')
      // Text is sent as it is; writing 100 KB anew for whoever asks takes a millisecond.
      return text as unknown as typeof document
    },
  }
}

/** `ok`, or words without any address or path: this endpoint is public. */
async function check(ping: Promise<void>): Promise<string> {
  const answered = ping.then(
    () => 'ok',
    () => 'does not answer',
  )
  return (await withTimeout(timeout, answered)) ?? 'does not answer in time'
}
