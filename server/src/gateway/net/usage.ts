import type { Caller } from './people.ts'
import { gatewayRefusals } from './refusals.ts'

/** How much one person may have open, and how much everybody together. */
export interface UsageLimits {
  readonly connections: number
  readonly webSocketsPerPerson: number
  readonly requestsPerPerson: number
}

export const usualUsage: UsageLimits = { connections: 20_000, webSocketsPerPerson: 100, requestsPerPerson: 250 }

/** Counts what people have open, so that one of them cannot use up the gateway for all others. */
export class Usage {
  readonly limits: UsageLimits
  readonly #webSockets = new Map<number, number>()
  readonly #requests = new Map<number, number>()
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
    if (caller) begin(this.#requests, caller.userId, this.limits.requestsPerPerson)
  }

  endRequest(caller: Caller | undefined): void {
    if (caller) end(this.#requests, caller.userId)
  }

  /** @throws {GatewayRefusal} 429 */
  checkWebSockets(caller: Caller | undefined): void {
    if (caller) check(this.#webSockets, caller.userId, this.limits.webSocketsPerPerson)
  }

  beginWebSocket(caller: Caller | undefined): void {
    if (caller) begin(this.#webSockets, caller.userId, Number.POSITIVE_INFINITY)
  }

  endWebSocket(caller: Caller | undefined): void {
    if (caller) end(this.#webSockets, caller.userId)
  }
}

function check(counts: ReadonlyMap<number, number>, userId: number, most: number): number {
  const count = counts.get(userId) ?? 0
  if (count >= most) throw gatewayRefusals.tooManyOfYours(most)
  return count
}

function begin(counts: Map<number, number>, userId: number, most: number): void {
  counts.set(userId, check(counts, userId, most) + 1)
}

function end(counts: Map<number, number>, userId: number): void {
  const count = counts.get(userId) ?? 0
  if (count > 1) counts.set(userId, count - 1)
  else counts.delete(userId)
}
