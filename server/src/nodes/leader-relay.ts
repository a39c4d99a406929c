import { chmod, rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { acceptErrors } from '@berth/gateway/basics/listening.ts'
import { joinSockets } from './socket-pipe.ts'

/** As the API's own listener: with a short queue a crowd is refused. */
const backlog = 4_096

/** In ms: how long a connection waits for a leader, which a takeover takes, and the interval of attempts. */
const [connectTimeout, retryEvery] = [10_000, 100]

/**
 * In the place of a follower's API: passes each connection to one of its Unix sockets on to the same socket of the leader. While no
 * leader is followed, connections wait: nothing of them has been read, so that the next leader serves them, this node or another. After
 * 10 s they are closed, and the gateway answers that Berth restarts. An application of this node replaces the path when it listens;
 * until then connections are accepted here.
 */
export class LeaderRelay {
  readonly #server: Server
  /** Ends the pause of each connection that waits. */
  readonly #waiting = new Set<() => void>()
  readonly #connect: () => Promise<Duplex>

  readonly #timeout: number

  /** @param connect a connection to the leader's socket; rejects when there is none @param timeout for tests, in ms */
  constructor(connect: () => Promise<Duplex>, timeout = connectTimeout) {
    this.#connect = connect
    this.#timeout = timeout
    this.#server = createServer((near) => void this.#pass(near))
  }

  /** @param report as of `acceptErrors` @throws {Error} when the socket cannot be made */
  async listen(socketPath: string, report: (problem: string) => void): Promise<void> {
    // Closing removes the path that was bound, which would be the application's by then: so it is bound by another name, as long.
    const bound = socketPath.replace(/\.sock$/, '.wait')
    await rm(bound, { force: true })
    this.#server.listen({ path: bound, backlog })
    await once(this.#server, 'listening')
    this.#server.on('error', acceptErrors(report))
    await chmod(bound, 0o600)
    await rename(bound, socketPath)
  }

  /** Accepts no more; what waits, and what a leader serves, goes on. The path is left to its next listener. */
  close(): void {
    this.#server.close()
  }

  /** To be called when a leader serves requests: what waits for one finds it at once, and not at its next attempt. */
  retry(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Never rejects. */
  async #pass(near: Socket): Promise<void> {
    near.on('error', () => {}).pause()
    for (const until = performance.now() + this.#timeout; !near.destroyed; await this.#pause()) {
      const far = await this.#connect().catch(() => undefined)
      if (far) return joinSockets(near, far)
      if (performance.now() > until) near.destroy()
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, retryEvery)
      this.#waiting.add(wake)
    })
  }
}
