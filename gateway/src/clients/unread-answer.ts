import type { GatewayContext } from '#/gateway-context.ts'
import type { ClientConnection } from './client-connection.ts'
import type { ActiveCount } from './connection-limiter.ts'

/**
 * What the client of one connection has not read yet of its answers takes memory, also after their requests are over: a client
 * that reads nothing could ask on thousands of connections. A user's request to an app counts until its answer is read. Answers
 * that need no account, of public apps, the platform and the gateway, have a limit of bytes for all clients together: a network may
 * be a school on a slow line.
 */
export class UnreadAnswer {
  readonly #connection: ClientConnection
  readonly #context: GatewayContext
  /** Where the request is counted whose answer is not read. */
  #active: ActiveCount | undefined
  #isHeld = false

  constructor(connection: ClientConnection, context: GatewayContext) {
    this.#connection = connection
    this.#context = context
  }

  /** Counts the request no more; called when the next one begins, because one connection counts as one request. */
  endCount(): void {
    if (this.#active === undefined) return
    this.#context.limiter.endRequest(this.#active)
    this.#active = undefined
  }

  /** A request is over. @param active where it is counted; undefined for answers of the platform and of the gateway */
  requestEnded(active: ActiveCount | undefined): void {
    this.endCount()
    const { hasUnread } = this.#connection
    const isCounted = hasUnread && active !== undefined && active.key === undefined
    if (isCounted) this.#active = active
    else this.#context.limiter.endRequest(active)
    if (!hasUnread) return
    if (isCounted) this.#isHeld = true
    else this.hold()
    this.#connection.onceSent(() => this.settle())
  }

  /** An answer that needs no account waits for its client. */
  hold(): void {
    if (this.#connection.isGone) return
    this.#isHeld = true
    const { unreadAnswers, unreadAppAnswers } = this.#context.connections
    unreadAppAnswers.delete(this.#connection)
    unreadAnswers.set(this.#connection, this.#connection.heldBytes)
  }

  /** What has come of an app's answer, which needs no account, waits for its client. */
  holdOfApp(): void {
    if (this.#connection.isGone) return
    this.#isHeld = true
    this.#context.connections.unreadAppAnswers.set(this.#connection, this.#connection.heldBytes)
  }

  /** Called when something has been read. */
  settle(): void {
    if (this.#isHeld && !this.#connection.hasUnread) this.release()
  }

  /** Nothing of it is in memory any more. */
  release(): void {
    this.#isHeld = false
    this.endCount()
    this.#context.connections.unreadAnswers.delete(this.#connection)
    this.#context.connections.unreadAppAnswers.delete(this.#connection)
  }
}
