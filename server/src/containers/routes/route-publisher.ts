import type { GatewayChange, Revocation } from '@berth/gateway/port/gateway-state.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { RoutingSnapshot } from './routing-snapshot.ts'

/** Delay after a failed publication before everything is sent again, in ms. */
const retryAfter = 500

export interface RoutePublisherParts {
  readonly gateway: Gateway
  /** Present revocations. */
  readonly revoked: () => readonly Revocation[]
  readonly report: (error: unknown, what: string) => void
}

/** Route publisher: sends changes to the gateway in order, and everything again after a failure. */
export class RoutePublisher {
  readonly snapshot = new RoutingSnapshot()
  readonly #parts: RoutePublisherParts
  /** The last publication; a call without changes waits for it. */
  #lastPublish: Promise<void> = Promise.resolve()
  /** Nothing is published before the whole state was. */
  #signal: AbortSignal | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(parts: RoutePublisherParts) {
    this.#parts = parts
  }

  /** Whether the whole state was published once. */
  get hasBegun(): boolean {
    return this.#signal !== undefined
  }

  /** Resolves when these and all earlier changes are acknowledged. @throws when the gateway did not acknowledge them */
  async publish(changes: readonly GatewayChange[]): Promise<void> {
    if (!this.#signal) return
    const { gateway } = this.#parts
    if (changes.length > 0) {
      this.#lastPublish = this.#confirmed(gateway.apply(changes))
      return this.#lastPublish
    }
    await this.#lastPublish
    await gateway.settled?.()
  }

  /** As `publish`, without waiting; a failure is reported. */
  publishLater(changes: readonly GatewayChange[]): void {
    if (changes.length === 0) return
    this.publish(changes).catch((error: unknown) => this.#parts.report(error, 'telling the gateway'))
  }

  /** Publishes the whole state in one step. @param signal ends retries @throws as `publish` */
  async publishAll(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    this.#lastPublish = this.#confirmed(this.#parts.gateway.replace(this.snapshot.all(this.#parts.revoked())))
    return this.#lastPublish
  }

  /** Changes that were not acknowledged may or may not be in force: soon everything is sent again. */
  async #confirmed(published: Promise<void>): Promise<void> {
    try {
      await published
    } catch (error) {
      if (!this.#retry) this.#retry = setTimeout(() => this.#republishAll(), retryAfter).unref()
      throw error
    }
  }

  #republishAll(): void {
    this.#retry = undefined
    if (!this.#signal || this.#signal.aborted) return
    this.publishAll(this.#signal).catch((error: unknown) =>
      this.#parts.report(error, 'telling the gateway everything anew'),
    )
  }
}
