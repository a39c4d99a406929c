import { chmod, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { joinSockets } from './socket-pipe.ts'

/** As the API's own listener: with a short queue a crowd is refused. */
const backlog = 4_096

/**
 * In the place of a follower's API: passes each connection to one of its Unix sockets on to the same socket of the leader. While no
 * leader is followed, connections are closed, and the gateway answers that Berth restarts.
 */
export class LeaderRelay {
  readonly #server: Server
  readonly #open = new Set<Socket>()

  /** @param connect a connection to the leader's socket; rejects when there is none */
  constructor(connect: () => Promise<Duplex>) {
    this.#server = createServer((near) => {
      this.#open.add(near)
      near.once('close', () => this.#open.delete(near)).on('error', () => {})
      near.pause()
      connect().then(
        (far) => joinSockets(near, far),
        () => near.destroy(),
      )
    })
  }

  /** @throws {Error} when the socket cannot be made */
  async listen(socketPath: string): Promise<void> {
    await rm(socketPath, { force: true })
    this.#server.listen({ path: socketPath, backlog })
    await once(this.#server, 'listening')
    await chmod(socketPath, 0o600)
  }

  /** Ends what is open, too. Resolves when the path is free. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#open) socket.destroy()
    await closed
  }
}
