import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '#/access/token-verifier.ts'
import type { ClientConnection } from '#/clients/client-connection.ts'
import type { GatewayConfig } from '#/gateway-context.ts'
import { isHtmlNavigation } from '#/http1/browser-request.ts'
import { GatewayRefusal, gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { showProgress, takesLong } from '#/pages/progress.ts'
import { containerOf, unavailableResponse } from '#/pages/unavailable.ts'
import { isWakeable, type ControlPlane, type Unavailable } from '#/port/gateway.ts'
import type { Exchange } from '#/proxy/exchange.ts'
import { Route } from './route.ts'
import { PlatformUpstream, UpstreamConnection, type Upstream } from './upstream.ts'

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

/** How long an app may take to accept a connection, in ms. */
const connectTimeout = 10_000
/** How long an app that has responded before may refuse connections, in ms: time for it to restart itself. */
const restartTimeout = 1_000
/** Pauses between attempts to connect, in ms. */
const [initialRetryDelay, maxRetryDelay] = [5, 250]

/** Options of one dial. */
export interface DialOptions {
  /** Whether to go on trying: the client may have left. */
  isWanted(): boolean
  /** Only its owner wakes a container that sleeps; one that is paused wakes for every authorized caller. */
  readonly mayWake: boolean
  /** Id of the request; made when it is asked for. */
  requestId(): string
  /** How long to wait for a container that starts, in ms. */
  readonly timeout: number
}

/**
 * Upstream dialer with retry: wakes the container when it has to, and retries with backoff while its app is still starting,
 * so that "it runs" is never followed by a refusal.
 * @returns why there is none to be had, when that is known
 * @throws {GatewayRefusal} 502 when the app cannot be reached although it should be there
 */
async function dialUpstream(
  upstream: Upstream,
  control: ControlPlane,
  options: DialOptions,
): Promise<UpstreamConnection | Unavailable> {
  const begun = performance.now()
  const deadline = begun + options.timeout
  let wasWoken = false
  for (let delay = initialRetryDelay; ; delay = Math.min(delay * 1.5, maxRetryDelay)) {
    const isAwake = upstream.address !== undefined
    // It was started for this very request, and has ended: once more would only end once more.
    const mayWake = options.mayWake && !(wasWoken && !isAwake)
    const got = await tryOnce(upstream, control, { ...options, mayWake }, deadline)
    wasWoken ||= !isAwake && upstream.address !== undefined
    if (got instanceof UpstreamConnection || 'reason' in got) return got
    const retryUntil = hasServedHere(upstream) ? Math.min(deadline, begun + restartTimeout) : deadline
    if (performance.now() + delay > retryUntil || !options.isWanted()) throw unreachable(upstream, control, got)
    await sleep(delay)
  }
}

/** An app that has answered at this address is not starting any more. */
const hasServedHere = (upstream: Upstream) =>
  upstream instanceof Route && upstream.hasAnswered && upstream.address !== undefined

/** One attempt: a connection, why there is none, or what went wrong, which may be mended by time. */
async function tryOnce(
  upstream: Upstream,
  control: ControlPlane,
  options: DialOptions,
  deadline: number,
): Promise<UpstreamConnection | Unavailable | Error> {
  const unavailable = upstream.address ? undefined : await wake(upstream, control, options, deadline)
  if (unavailable) return unavailable
  const { address } = upstream
  if (!address) return new Error('it has no address yet')
  try {
    if (upstream instanceof Route && 'host' in address && !(await upstream.isReady(address))) return new NotReady()
    const connection = await UpstreamConnection.open(upstream, address, connectTimeout)
    if (upstream.address === address && options.isWanted()) return connection
    // Held for a pause or moved while it was opened, or the client left: it must neither be used nor pooled.
    connection.destroy()
    return new Error('it is elsewhere by now')
  } catch (error) {
    if (!(upstream instanceof Route) || isRefused(error)) return error as Error
    throw unreachable(upstream, control, error)
  }
}

/** Its template says what it has to answer, and it has not. */
class NotReady extends Error {}

/** Unreachable at this address: the container may have stopped without an event. */
function unreachable(upstream: Upstream, control: ControlPlane, cause: unknown): GatewayRefusal {
  if (cause instanceof NotReady) return gatewayRefusals.appNotReady()
  if (upstream instanceof Route) control.reportUnreachable(upstream.entry.prefix)
  return gatewayRefusals.appFailed(cause)
}

/** No listener yet (`ECONNREFUSED`), or the platform's socket is not there yet. */
const isRefused = (error: unknown) => ['ECONNREFUSED', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code))

/** Waits until the container runs. @returns why it does not, or undefined when it may by now */
async function wake(
  upstream: Upstream,
  control: ControlPlane,
  { mayWake, requestId }: DialOptions,
  deadline: number,
): Promise<Unavailable | undefined> {
  if (!(upstream instanceof Route)) return undefined
  const { where, prefix } = upstream.entry
  if ('reason' in where && !(isWakeable(where) && mayWake)) return where
  const timedOutReason: Unavailable = { reason: 'asleep', exitCode: null }
  const answered = new AbortController()
  const timedOut = sleep(Math.max(0, deadline - performance.now()), timedOutReason, {
    ref: false,
    signal: answered.signal,
  })
  // The route may be held because its owner stops it, which no visitor undoes.
  const woken = control.wake(prefix, requestId(), mayWake ? 'start' : 'resume').catch(() => unknown)
  return Promise.race([woken, timedOut.catch(() => undefined)]).finally(() => answered.abort())
}

const unknown: Unavailable = { reason: 'unknown', exitCode: null }
