import { readFileSync } from 'node:fs'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import type { ConnectionLimits } from './client-connections.ts'

/** Max client connections, even if the operating system allows more: each takes about 10 KB. */
const maxConnections = 20_000
/** Connections in their TLS handshake, and those of the redirect to https, each as a part of all client connections. */
export const [handshakeShare, redirectShare] = [1 / 4, 1 / 4]
/** File descriptors for everything but connections: the listeners, the log, the API process, libraries. */
const reserved = 256
/** Never fewer, or Berth would be unusable. */
const minConnections = 64

/**
 * How many client connections this process may hold: two fifths of its file descriptors (RLIMIT_NOFILE; Node raises the soft
 * limit to the hard one at its start), because each may need another connection to an app, and with TLS there are handshakes and
 * redirects beside them.
 * @param limits text of `/proc/self/limits`
 */
export function maxClientConnections(limits = readLimits()): number {
  const allowed = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(
    minConnections,
    Math.min(maxConnections, Math.floor((allowed - reserved) / (2 + handshakeShare + redirectShare))),
  )
}

/** Empty where there is no such file: outside of Linux. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** Limits of one user, and of all clients together. */
export interface GatewayLimits extends ConnectionLimits {
  readonly webSocketsPerPerson: number
  readonly requestsPerPerson: number
}

export const defaultGatewayLimits: GatewayLimits = {
  connections: maxClientConnections(),
  unfinishedHeads: 32 * 1024 * 1024,
  // A thousand clients that read nothing of a page; those of a class on a slow network read some of it.
  unreadAnswers: 64 * 1024 * 1024,
  // A thousand clients on slow lines: of a file that is being sent 256 KB wait for each.
  unreadAppAnswers: 256 * 1024 * 1024,
  webSocketsPerPerson: 100,
  requestsPerPerson: 250,
}

/** Open requests and WebSockets of one user, or of all anonymous clients from one network at one app. */
export interface ActiveCount {
  requests: number
  webSockets: number
  /** Key of an anonymous counter in `ConnectionLimiter`. */
  readonly key?: string
}

/** Connection limiter: counts open requests and WebSockets of each user, so that one user cannot exhaust the gateway. */
export class ConnectionLimiter {
  readonly limits: GatewayLimits
  /** Since the start. */
  requests = 0
  refusals = 0
  failures = 0
  readonly #anonymous = new Map<string, ActiveCount>()

  constructor(limits: GatewayLimits) {
    this.limits = limits
  }

  /**
   * What visitors without an account have open at an app: those of one network count as one person does there.
   * @param network as `networkOf` names it
   */
  forAnonymous(network: string, prefix: string): ActiveCount {
    const key = `${network} ${prefix}`
    return this.#anonymous.get(key) ?? { requests: 0, webSockets: 0, key }
  }

  /** @param active undefined for the platform, which has limits of its own @throws {GatewayRefusal} 429 */
  beginRequest(active: ActiveCount | undefined): void {
    this.requests++
    if (active === undefined) return
    if (active.requests >= this.limits.requestsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.limits.requestsPerPerson)
    active.requests++
    this.#keep(active)
  }

  endRequest(active: ActiveCount | undefined): void {
    if (active === undefined) return
    active.requests--
    this.#keep(active)
  }

  /** @throws {GatewayRefusal} 429 */
  checkWebSockets(active: ActiveCount): void {
    if (active.webSockets >= this.limits.webSocketsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.limits.webSocketsPerPerson)
  }

  beginWebSocket(active: ActiveCount | undefined): void {
    if (active === undefined) return
    active.webSockets++
    this.#keep(active)
  }

  endWebSocket(active: ActiveCount | undefined): void {
    if (active === undefined) return
    active.webSockets--
    this.#keep(active)
  }

  /** Counters of anonymous clients are kept only while they are above zero. */
  #keep(active: ActiveCount): void {
    if (active.key === undefined) return
    if (active.requests + active.webSockets > 0) this.#anonymous.set(active.key, active)
    else this.#anonymous.delete(active.key)
  }
}
