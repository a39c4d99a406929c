import type { Change, Gateway, Revocation } from '#/gateway/gateway.ts'
import { Picture } from './picture.ts'

/** How long after the gateway did not confirm something everything is said anew, in ms. */
const retryAfter = 500

export interface TellerParts {
  readonly gateway: Gateway
  /** What is revoked now. */
  readonly revoked: () => readonly Revocation[]
  readonly report: (error: unknown, what: string) => void
}

/** Tells the gateway, in order, and knows what it was told. */
export class Teller {
  readonly picture = new Picture()
  readonly #parts: TellerParts
  /** The last thing told; who finds that nothing is left to tell waits for it. */
  #told: Promise<void> = Promise.resolve()
  /** Nothing is told before everything was. */
  #signal: AbortSignal | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(parts: TellerParts) {
    this.#parts = parts
  }

  /** Whether everything was told once. */
  get hasBegun(): boolean {
    return this.#signal !== undefined
  }

  /** Resolves when these changes, and all that was told before, count. @throws when the gateway did not confirm it */
  async tell(changes: readonly Change[]): Promise<void> {
    if (changes.length > 0 && this.#signal) this.#told = this.#confirmed(this.#parts.gateway.apply(changes))
    return this.#told
  }

  /** As `tell`, for who does not wait for it. */
  tellLater(changes: readonly Change[]): void {
    this.tell(changes).catch((error: unknown) => this.#parts.report(error, 'telling the gateway'))
  }

  /** Tells the whole picture in one step. @param signal ends what this does by itself @throws as `tell` */
  async tellAll(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    this.#told = this.#confirmed(this.#parts.gateway.replace(this.picture.all(this.#parts.revoked())))
    return this.#told
  }

  /** What was not confirmed may or may not count: soon all of it is said anew. */
  async #confirmed(told: Promise<void>): Promise<void> {
    try {
      await told
    } catch (error) {
      if (!this.#retry) this.#retry = setTimeout(() => this.#tellAllAgain(), retryAfter).unref()
      throw error
    }
  }

  #tellAllAgain(): void {
    this.#retry = undefined
    if (!this.#signal || this.#signal.aborted) return
    this.tellAll(this.#signal).catch((error: unknown) =>
      this.#parts.report(error, 'telling the gateway everything anew'),
    )
  }
}
