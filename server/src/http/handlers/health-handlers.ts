import type { Handlers } from '#/http/handlers/handler-types.ts'
import { readinessCheck, type ReadinessParts } from '#/http/readiness-check.ts'

/** Health checks: liveness (`/healthz`) and readiness (`/readyz`). */
export function healthHandlers(checked: ReadinessParts): Pick<Handlers, 'health' | 'ready'> {
  const readiness = readinessCheck(checked)
  return {
    health: () => ({ status: 'ok' }),
    ready: async ({ reply }) => {
      const { isReady, ...parts } = await readiness()
      if (!isReady) void reply.status(503)
      return { status: isReady ? 'ready' : 'not ready', parts }
    },
  }
}
