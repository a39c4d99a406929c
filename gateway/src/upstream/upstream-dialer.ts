import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayRefusal, gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { isVisitors, isWakeable, type ControlPlane, type Unavailable, type WakeRight } from '#/port/gateway.ts'
import { tunnelPath } from '#/port/tunnel.ts'
import { PortRoute, Route } from './route.ts'
import { TunnelRefused, UpstreamConnection, type Upstream } from './upstream.ts'

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
  readonly right: WakeRight
  /** Whether it ran when the page was asked for: a stop that has come meanwhile is not undone. */
  readonly ranBefore: boolean
  /** Id of the request; made when it is asked for. */
  requestId(): string
  /** Of its span; undefined without traces. */
  readonly traceparent: string | undefined
  /** How long to wait for a container that starts, in ms. */
  readonly timeout: number
  /** Unix socket of the API, which reaches programs that listen on a container's loopback alone. */
  readonly platformSocket: string
}

/**
 * Upstream dialer with retry: wakes the container when it has to, and retries with backoff while its app is still starting,
 * so that "it runs" is never followed by a refusal. A further port is tried once: its program may never be started.
 * @returns why there is none to be had, when that is known
 * @throws {GatewayRefusal} 502 when the app cannot be reached although it should be there
 */
export async function dialUpstream(
  upstream: Upstream,
  control: ControlPlane,
  options: DialOptions,
): Promise<UpstreamConnection | Unavailable> {
  const begun = performance.now()
  const deadline = begun + options.timeout
  let [wasWoken, { ranBefore }] = [false, options]
  for (let delay = initialRetryDelay; ; delay = Math.min(delay * 1.5, maxRetryDelay)) {
    const isAwake = upstream.address !== undefined
    const right = isAwake ? options.right : rightAfter(options.right, wasWoken, ranBefore)
    const got = await tryOnce(upstream, control, { ...options, right }, deadline)
    wasWoken ||= !isAwake && upstream.address !== undefined
    ranBefore ||= isAwake
    if (got instanceof UpstreamConnection || 'reason' in got) return got
    const retryUntil = hasServedHere(upstream) ? Math.min(deadline, begun + restartTimeout) : deadline
    if (performance.now() + delay > retryUntil || !options.isWanted()) throw unreachable(upstream, control, got)
    await sleep(delay)
  }
}

/** What a request may cause of a container that does not run any more. */
function rightAfter(right: WakeRight, wasWoken: boolean, ranBefore: boolean): WakeRight {
  // It was started for this very request, and has ended: once more would only end once more.
  if (wasWoken) return 'resume'
  return ranBefore && right === 'start' ? 'use' : right
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
    const connection = await (upstream instanceof PortRoute
      ? openPort(upstream, address, options.platformSocket)
      : UpstreamConnection.open(upstream, address, connectTimeout))
    if (upstream.address === address && options.isWanted()) return connection
    // Held for a pause or moved while it was opened, or the client left: it must neither be used nor pooled.
    connection.destroy()
    return new Error('it is elsewhere by now')
  } catch (error) {
    if (error instanceof GatewayRefusal) throw error
    if (!(upstream instanceof Route) || isRefused(error)) return error as Error
    throw unreachable(upstream, control, error)
  }
}

/**
 * From outside of the container, as for its main port, or else from inside.
 * @throws {GatewayRefusal} 502 when nothing listens there · 503 when that cannot be told now
 */
async function openPort(
  route: PortRoute,
  address: NonNullable<Upstream['address']>,
  platformSocket: string,
): Promise<UpstreamConnection> {
  try {
    return await UpstreamConnection.open(route, address, connectTimeout)
  } catch (error) {
    if (!isRefused(error)) throw error
  }
  const target = `/${tunnelPath}/${route.entry.prefix}/${route.port}`
  try {
    return await UpstreamConnection.openByTunnel(route, platformSocket, target, tunnelTimeout)
  } catch (error) {
    if (!(error instanceof TunnelRefused)) throw gatewayRefusals.portUnreachable(route.port, error)
    throw error.status === 404
      ? gatewayRefusals.nothingListens(route.port)
      : gatewayRefusals.portUnreachable(route.port, error)
  }
}

/** How long the API may take to make one, in ms: the engine starts a program in the container. */
const tunnelTimeout = 15_000

/** Its template says what it has to answer, and it has not. */
class NotReady extends Error {}

/** Unreachable at this address: the container may have stopped without an event. */
function unreachable(upstream: Upstream, control: ControlPlane, cause: unknown): GatewayRefusal {
  if (cause instanceof NotReady) return gatewayRefusals.appNotReady()
  if (upstream instanceof Route) control.reportUnreachable(upstream.entry.prefix)
  return gatewayRefusals.appFailed(cause)
}

/** Whether there is no listener (`ECONNREFUSED`), or the platform's socket is not there yet. */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ECONNREFUSED', 'ENOENT'].includes(String(error.code))

/** Waits until the container runs. @returns why it does not, or undefined when it may by now */
async function wake(
  upstream: Upstream,
  control: ControlPlane,
  { right, requestId, traceparent }: DialOptions,
  deadline: number,
): Promise<Unavailable | undefined> {
  if (!(upstream instanceof Route)) return undefined
  const { where, prefix } = upstream.entry
  if (right === 'none') return 'reason' in where ? where : asleep
  if ('reason' in where && !(isWakeable(where) && !isVisitors(right))) return where
  const answered = new AbortController()
  const timedOut = sleep(Math.max(0, deadline - performance.now()), asleep, {
    ref: false,
    signal: answered.signal,
  })
  // The route may be held because its owner stops it, which no visitor undoes.
  const woken = control.wake(prefix, requestId(), right, traceparent).catch(() => unknown)
  return Promise.race([woken, timedOut.catch(() => undefined)]).finally(() => answered.abort())
}

const asleep: Unavailable = { reason: 'asleep', exitCode: null }

const unknown: Unavailable = { reason: 'unknown', exitCode: null }
