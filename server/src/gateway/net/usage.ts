import type { ConnectionLimits } from './client-connections.ts'
import { connectionsAllowed } from './file-limit.ts'
import type { Caller } from './people.ts'
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

/** Counts what people have open, so that one of them cannot use up the gateway for all others. */
export class Usage {
  readonly limits: UsageLimits
  /** Since the start. */
  requests = 0
  refusals = 0
  failures = 0

  constructor(limits: UsageLimits) {
    this.limits = limits
  }

  /** @throws {GatewayRefusal} 429 */
  beginRequest(caller: Caller | undefined): void {
    this.requests++
    if (caller === undefined) return
    if (caller.open.requests >= this.limits.requestsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.limits.requestsPerPerson)
    caller.open.requests++
  }

  endRequest(caller: Caller | undefined): void {
    if (caller) caller.open.requests--
  }

  /** @throws {GatewayRefusal} 429 */
  checkWebSockets(caller: Caller | undefined): void {
    if (caller && caller.open.webSockets >= this.limits.webSocketsPerPerson)
      throw gatewayRefusals.tooManyOfYours(this.limits.webSocketsPerPerson)
  }

  beginWebSocket(caller: Caller | undefined): void {
    if (caller) caller.open.webSockets++
  }

  endWebSocket(caller: Caller | undefined): void {
    if (caller) caller.open.webSockets--
  }
}
