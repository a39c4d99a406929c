import type { ClientConnection } from './client-connection.ts'

/** What becomes of connections that hold too much. */
interface HeldBytesOptions {
  /** Of all connections together. */
  readonly limit: number
  /** Whether a connection still holds what was counted; those that do not are counted no more. */
  isHeld(connection: ClientConnection): boolean
  /** Closes a connection, which deletes it here. */
  close(connection: ClientConnection): void
}

/** Bytes of one kind that connections hold, with a limit for all together: above it those that began first are closed. */
export class HeldBytes {
  readonly #options: HeldBytesOptions
  /** In the order in which they began. */
  readonly #held = new Map<ClientConnection, number>()
  #total = 0

  constructor(options: HeldBytesOptions) {
    this.#options = options
  }

  get total(): number {
    return this.#total
  }

  /** @param bytes that the connection holds now; it keeps its position in the order */
  set(connection: ClientConnection, bytes: number): void {
    const { limit, isHeld, close } = this.#options
    this.#total += bytes - (this.#held.get(connection) ?? 0)
    this.#held.set(connection, bytes)
    for (const [oldest] of this.#held) {
      if (this.#total <= limit) break
      if (isHeld(oldest)) close(oldest)
      else this.delete(oldest)
    }
  }

  delete(connection: ClientConnection): void {
    this.#total -= this.#held.get(connection) ?? 0
    this.#held.delete(connection)
  }
}
