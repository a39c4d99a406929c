import type { Socket } from 'node:net'

/**
 * Connections in their TLS handshake: bounded, because no other limit counts them. Above the limit the oldest is closed,
 * so that a client that opens connections and sends nothing keeps no other client out.
 */
export class Handshakes {
  readonly #max: number
  /** By the peer's address and port, in the order in which they began. */
  readonly #open = new Map<string, Socket>()

  /** @param max of all clients together */
  constructor(max: number) {
    this.#max = max
  }

  /** @param connection as it was accepted; it is counted until `end`, or until it closes */
  begin(connection: Socket): void {
    const peer = peerOf(connection)
    for (const [oldest, stalled] of this.#open) {
      if (this.#open.size < this.#max) break
      this.#open.delete(oldest)
      stalled.destroy()
    }
    this.#open.set(peer, connection)
    connection.once('close', () => {
      if (this.#open.get(peer) === connection) this.#open.delete(peer)
    })
  }

  /** @param connection the encrypted one, which is another object of the same peer */
  end(connection: Socket): void {
    this.#open.delete(peerOf(connection))
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
