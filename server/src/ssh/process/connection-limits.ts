import { networkOf } from '@berth/gateway/basics/ip-address.ts'

/** Connections without proof at a time: of one network, and in all. A class that connects at once fits. */
const [maxOfNetwork, maxInAll] = [64, 512]
/** Connections of one network that end without proof, within a window, until further ones are refused; ms. */
const [maxFailures, window] = [200, 600_000]
/** Networks that are remembered; above it those whose window began first are forgotten. */
const maxNetworks = 20_000

interface Network {
  began: number
  failures: number
}

/** Bounds what clients cost that have proved nothing yet: a flood of them leaves room for people of other networks. */
export class ConnectionLimits {
  readonly #open = new Map<string, number>()
  readonly #failed = new Map<string, Network>()
  readonly #now: () => number
  #inAll = 0
  /** Since the start. */
  refused = 0

  /** @param now ms, monotonic; for tests */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** Connections without proof, now. */
  get unproven(): number {
    return this.#inAll
  }

  /**
   * A client connects.
   * @returns undefined when it is refused; otherwise to be called once, when it has proved who it is or has left
   */
  enter(address: string): ((isProven: boolean) => void) | undefined {
    const network = networkOf(address)
    const open = this.#open.get(network) ?? 0
    if (open >= maxOfNetwork || this.#inAll >= maxInAll || this.#failuresOf(network) >= maxFailures) {
      this.refused++
      return undefined
    }
    this.#open.set(network, open + 1)
    this.#inAll++
    return (isProven) => this.#leave(network, isProven)
  }

  #leave(network: string, isProven: boolean): void {
    const open = (this.#open.get(network) ?? 1) - 1
    if (open > 0) this.#open.set(network, open)
    else this.#open.delete(network)
    this.#inAll--
    // Who has a key behind an address with others who guess is not kept out by them for long.
    if (isProven) this.#failed.delete(network)
    else this.#noteFailure(network)
  }

  #failuresOf(network: string): number {
    const known = this.#failed.get(network)
    return known && this.#now() - known.began < window ? known.failures : 0
  }

  #noteFailure(network: string): void {
    const failures = this.#failuresOf(network)
    const began = failures === 0 ? this.#now() : (this.#failed.get(network)?.began ?? this.#now())
    this.#failed.set(network, { began, failures: failures + 1 })
    for (const [oldest] of this.#failed)
      if (this.#failed.size > maxNetworks) this.#failed.delete(oldest)
      else break
  }
}
