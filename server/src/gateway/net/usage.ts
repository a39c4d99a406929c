import type { ConnectionLimits } from './client-connections.ts'
import { connectionsAllowed } from './file-limit.ts'
import { gatewayRefusals } from './refusals.ts'

/** How much one person may have open, and how much everybody together. */
export interface UsageLimits extends ConnectionLimits {
  readonly webSocketsPerPerson: number
  readonly requestsPerPerson: number
}

export const usualUsage: UsageLimits = {
  connections: connectionsAllowed(),
  unfinishedHeads: 32 * 1024 * 1024,
  webSocketsPerPerson: 100,
  requestsPerPerson: 250,
}

/** What one person has open, or all without an account from one network at one app. */
export interface OpenCount {
  requests: number
  webSockets: number
  /** Of those without an account: where `Usage` keeps it. */
  readonly key?: string
}

/** Counts what people have open, so that one of them cannot use up the gateway for all others. */
export class Usage {
  readonly limits: UsageLimits
  /** Since the start. */
  requests = 0
  refusals = 0
  failures = 0
  readonly #strangers = new Map<string, OpenCount>()

  constructor(limits: UsageLimits) {
    this.limits = limits
  }

  /**
   * What visitors without an account have open at an app: those of one network count as one person does there.
   * @param network as `networkOf` names it
   */
  ofStrangers(network: string, prefix: string): OpenCount {
    const key = `${network} ${prefix}`
    return this.#strangers.get(key) ?? { requests: 0, webSockets: 0, key }
  }

  /** @param open undefined for the platform, which has limits of its own @throws {GatewayRefusal} 429 */
  beginRequest(open: OpenCount | undefined): void {
    this.requests++
    if (open === undefined) return
    if (open.requests >= this.limits.requestsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.limits.requestsPerPerson)
    open.requests++
    this.#keep(open)
  }

  endRequest(open: OpenCount | undefined): void {
    if (open === undefined) return
    open.requests--
    this.#keep(open)
  }

  /** @throws {GatewayRefusal} 429 */
  checkWebSockets(open: OpenCount): void {
    if (open.webSockets >= this.limits.webSocketsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.limits.webSocketsPerPerson)
  }

  beginWebSocket(open: OpenCount | undefined): void {
    if (open === undefined) return
    open.webSockets++
    this.#keep(open)
  }

  endWebSocket(open: OpenCount | undefined): void {
    if (open === undefined) return
    open.webSockets--
    this.#keep(open)
  }

  /** Of strangers only what counts something is kept. */
  #keep(open: OpenCount): void {
    if (open.key === undefined) return
    if (open.requests + open.webSockets > 0) this.#strangers.set(open.key, open)
    else this.#strangers.delete(open.key)
  }
}
