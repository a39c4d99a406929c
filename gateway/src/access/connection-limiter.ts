import { gatewayRefusals } from '#/pages/gateway-refusals.ts'

/** Limits of one user, or of all anonymous clients from one network at one app. */
export interface PersonLimits {
  readonly webSocketsPerPerson: number
  readonly requestsPerPerson: number
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
  readonly #limits: PersonLimits
  /** Since the start. */
  requests = 0
  refusals = 0
  failures = 0
  readonly #anonymous = new Map<string, ActiveCount>()

  constructor(limits: PersonLimits) {
    this.#limits = limits
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
    if (active.requests >= this.#limits.requestsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.#limits.requestsPerPerson)
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
    if (active.webSockets >= this.#limits.webSocketsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.#limits.webSocketsPerPerson)
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
