import type { GatewayChange, Revocation } from '#/gateway/gateway-state.ts'
import type { Gateway } from '#/gateway/gateway.ts'
import { RoutingSnapshot } from './routing-snapshot.ts'

/** How long after the gateway did not confirm something everything is said anew, in ms. */
const retryAfter = 500

export interface RoutePublisherParts {
  readonly gateway: Gateway
  /** What is revoked now. */
  readonly revoked: () => readonly Revocation[]
  readonly report: (error: unknown, what: string) => void
}

/** Route publisher: sends changes to the gateway in order, and everything again after a failure. */
export class RoutePublisher {
  readonly snapshot = new RoutingSnapshot()
  readonly #parts: RoutePublisherParts
  /** The last thing told; who finds that nothing is left to tell waits for it. */
  #lastPublish: Promise<void> = Promise.resolve()
  /** Nothing is told before everything was. */
  #signal: AbortSignal | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(parts: RoutePublisherParts) {
    this.#parts = parts
  }

  /** Whether everything was told once. */
  get hasBegun(): boolean {
    return this.#signal !== undefined
  }

  /** Resolves when these changes, and all that was told before, count. @throws when the gateway did not confirm it */
  async publish(changes: readonly GatewayChange[]): Promise<void> {
    if (changes.length > 0 && this.#signal) this.#lastPublish = this.#confirmed(this.#parts.gateway.apply(changes))
    return this.#lastPublish
  }

  /** As `publish`, without waiting; a failure is reported. */
  publishLater(changes: readonly GatewayChange[]): void {
    if (changes.length === 0) return
    this.publish(changes).catch((error: unknown) => this.#parts.report(error, 'telling the gateway'))
  }

  /** Tells the whole picture in one step. @param signal ends what this does by itself @throws as `tell` */
  async publishAll(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    this.#lastPublish = this.#confirmed(this.#parts.gateway.replace(this.snapshot.all(this.#parts.revoked())))
    return this.#lastPublish
  }

  /** What was not confirmed may or may not count: soon all of it is said anew. */
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
