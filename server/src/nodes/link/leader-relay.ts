import { chmod, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { joinSockets } from './socket-pipe.ts'

/** As the API's own listener: with a short queue a crowd is refused. */
const backlog = 4_096

/** In ms: how long a connection waits for a leader, which a takeover takes, and the interval of attempts. */
const [connectTimeout, retryEvery] = [10_000, 100]

/**
 * In the place of a follower's API: passes each connection to one of its Unix sockets on to the same socket of the leader. While no
 * leader is followed, connections wait: nothing of them has been read, so that the next leader serves them, this node or another. After
 * 10 s they are closed, and the gateway answers that Berth restarts.
 */
export class LeaderRelay {
  readonly #server: Server
  /** Those that a leader serves. */
  readonly #open = new Set<Socket>()
  readonly #connect: () => Promise<Duplex>

  readonly #timeout: number

  /** @param connect a connection to the leader's socket; rejects when there is none @param timeout for tests, in ms */
  constructor(connect: () => Promise<Duplex>, timeout = connectTimeout) {
    this.#connect = connect
    this.#timeout = timeout
    this.#server = createServer((near) => void this.#pass(near))
  }

  /** @throws {Error} when the socket cannot be made */
  async listen(socketPath: string): Promise<void> {
    await rm(socketPath, { force: true })
    this.#server.listen({ path: socketPath, backlog })
    await once(this.#server, 'listening')
    await chmod(socketPath, 0o600)
  }

  /** Frees the path, and ends what is open, but not what waits. */
  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  /** Never rejects. */
  async #pass(near: Socket): Promise<void> {
    near.on('error', () => {}).pause()
    for (const until = performance.now() + this.#timeout; !near.destroyed; await sleep(retryEvery)) {
      const far = await this.#connect().catch(() => undefined)
      if (far) return this.#join(near, far)
      if (performance.now() > until) near.destroy()
    }
  }

  #join(near: Socket, far: Duplex): void {
    this.#open.add(near)
    near.once('close', () => this.#open.delete(near))
    joinSockets(near, far)
  }
}
