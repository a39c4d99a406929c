import type { ConnectionLimiter } from '#/access/connection-limiter.ts'
import type { Freshness } from '#/access/freshness.ts'
import type { GatewayConfig } from '#/access/gateway-config.ts'
import type { SessionTracker } from '#/access/session-tracker.ts'
import type { ShareTable } from '#/access/share-table.ts'
import { clock } from '#/basics/clock.ts'
import type { Caller, TokenVerifier, UserCache } from '#/tokens/token-verifier.ts'
import type { RoutingTable } from '#/upstream/routing-table.ts'
import type { GatewayMetrics } from './gateway-metrics.ts'

/** What every request of one gateway is judged and served by. */
export interface RequestContext {
  readonly routingTable: RoutingTable
  readonly users: UserCache
  readonly tokens: TokenVerifier
  readonly sessions: SessionTracker
  readonly shares: ShareTable
  readonly limiter: ConnectionLimiter
  readonly metrics: GatewayMetrics
  /** Undefined until the first control plane has come. */
  readonly config: GatewayConfig | undefined
  /** Whether a control plane has sent its state; until then no token can be rejected. */
  readonly hasState: boolean
  /** With several nodes: whether what is known here is too old to decide by. */
  readonly freshness: Pick<Freshness, 'isStale'>
  /** Requests are served, and the last one of each connection ends it. */
  readonly isDraining: boolean
  readonly isClosing: boolean
}

/** Whether something that a caller has open may stay so: as long as their token, or the session that it belongs to. */
export function mayContinue({ users, tokens, sessions, config }: RequestContext, caller: Caller | undefined): boolean {
  if (caller === undefined) return true
  if (users.get(caller.userId)?.isBlocked !== false) return false
  if (caller.expiresAt > clock.wall) return tokens.isValid(caller)
  return tokens.isAllowed(caller) && sessions.isOpen(config?.control, caller)
}
