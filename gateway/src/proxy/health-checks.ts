import type { GatewayConfig, GatewayContext } from '#/gateway-context.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { livenessResponse, type GatewayResponse } from '#/pages/gateway-response.ts'

/** Health checks: for load balancers, and for what restarts programs. */
const [readinessPath, livenessPath] = ['/readyz', '/healthz']

/**
 * The gateway's own part of health checks. What is left is the API's; with several nodes that of the node that leads, which may be
 * away for longer than a load balancer waits.
 * @returns undefined for requests that go to the API
 * @throws {GatewayRefusal} 503 to a readiness check while it drains, or is behind the other nodes
 */
export function healthResponse(
  { isDraining, freshness }: GatewayContext,
  { settings }: GatewayConfig,
  { method, target }: RequestHead,
): GatewayResponse | undefined {
  if (isPath(readinessPath, target)) {
    if (isDraining) throw gatewayRefusals.shuttingDown()
    if (freshness.isStale) throw gatewayRefusals.behind()
  }
  const isOneOfSeveral = settings.maxStateAge !== undefined
  return isOneOfSeveral && method === 'GET' && isPath(livenessPath, target) ? livenessResponse : undefined
}

/** Whatever its query. */
const isPath = (path: string, target: string) => target === path || target.startsWith(`${path}?`)
