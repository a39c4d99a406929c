import type { Unavailable } from '#/port/gateway-state.ts'
import { unavailableResponse, containerOf } from '#/pages/unavailable-response.ts'
import { UpstreamConnection } from './upstream-connection.ts'
import type { ClientConnection } from '#/clients/client-connection.ts'
import type { GatewayConfig } from '#/gateway-context.ts'
import type { Exchange } from '#/proxy/exchange.ts'
import { isHtmlNavigation } from '#/http1/browser-request.ts'
import { GatewayRefusal, gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { dialUpstream } from './upstream-dialer.ts'
import { PlatformUpstream } from './platform-upstream.ts'
import { Route } from './route.ts'
import type { Upstream } from './upstream.ts'
import type { Caller } from '#/access/token-verifier.ts'
import { takesLong, showProgress } from '#/pages/progress-response.ts'

/** How long a request waits for its container, in ms: programs, and people who see what goes on. */
const [programTimeout, browserTimeout] = [30_000, 180_000]

/** How long a request waits for an API that is being restarted, in ms. */
const platformTimeout = 3_000

/** Connects an exchange to its upstream, or explains why the container is unavailable. Never rejects. */
export async function connectOrExplain(
  config: GatewayConfig,
  client: ClientConnection,
  exchange: Exchange,
): Promise<void> {
  try {
    await tryToConnect(config, client, exchange, isOwners(exchange.parts.upstream, exchange.caller))
  } catch (error) {
    if (exchange.isOver) return
    client.refuse(error instanceof GatewayRefusal ? error : gatewayRefusals.bug(error))
  }
}

/**
 * Whether it is a container, and its owner asks. Derived, not handed down: a request that is sent once more must wake its
 * owner's container as it did at first.
 */
export const isOwners = (upstream: Upstream, caller: Caller | undefined): boolean =>
  upstream instanceof Route && caller?.userId === upstream.entry.ownerId

async function tryToConnect(
  config: GatewayConfig,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
): Promise<void> {
  const { upstream, head } = exchange.parts
  const showsProgress = upstream instanceof Route && head.method === 'GET' && isHtmlNavigation(head)
  const timeout =
    upstream instanceof PlatformUpstream ? platformTimeout : showsProgress ? browserTimeout : programTimeout
  const connecting = dialUpstream(upstream, config.control, {
    isWanted: () => !exchange.isOver,
    mayWake: isOwner,
    requestId: () => client.requestId,
    timeout,
  })
  if (showsProgress && (await takesLong(connecting))) return showProgress(config, client, exchange, isOwner, connecting)
  let got: UpstreamConnection | Unavailable
  try {
    got = await connecting
  } catch (error) {
    return explainFailure(config, client, exchange, isOwner, error)
  }
  if (got instanceof UpstreamConnection) client.send(got)
  else if (!exchange.isOver) await respondUnavailable(config, client, exchange, isOwner, got)
}

async function respondUnavailable(
  config: GatewayConfig,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
  unavailable: Unavailable | undefined,
): Promise<void> {
  const { upstream, head } = exchange.parts
  if (!(upstream instanceof Route)) return client.refuse(gatewayRefusals.platformDown())
  const response = await unavailableResponse(config, head, unavailable, containerOf(upstream, isOwner))
  if (!exchange.isOver) client.respond(response)
}

/** The container runs, but its app cannot be reached; or the API cannot. */
async function explainFailure(
  config: GatewayConfig,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
  error: unknown,
): Promise<void> {
  if (exchange.isOver) return
  const { upstream, head } = exchange.parts
  const isBug = !(error instanceof GatewayRefusal)
  if (isBug || !(upstream instanceof Route) || !isHtmlNavigation(head)) {
    if (upstream instanceof PlatformUpstream) return client.refuse(gatewayRefusals.platformDown())
    throw error
  }
  await respondUnavailable(config, client, exchange, isOwner, undefined)
}
