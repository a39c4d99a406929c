import type { UpstreamConnection } from './upstream-connection.ts'

/** Connections to one app that are kept for its next requests. */
const maxIdleConnections = 64

/** Connection pool: idle connections to one upstream. The one used last is used first, so that the others may end. */
export class ConnectionPool {
  readonly #stack: UpstreamConnection[] = []
  readonly #nonEmptyPools: Set<ConnectionPool>

  /** @param nonEmptyPools the list of those that have any, which this one enters by itself: looking at 10,000 routes takes 5 ms */
  constructor(nonEmptyPools: Set<ConnectionPool>) {
    this.#nonEmptyPools = nonEmptyPools
  }

  take(): UpstreamConnection | undefined {
    return this.#stack.pop()
  }

  keep(connection: UpstreamConnection): void {
    if (this.#stack.length >= maxIdleConnections) return connection.destroy()
    if (this.#stack.push(connection) === 1) this.#nonEmptyPools.add(this)
  }

  forget(connection: UpstreamConnection): void {
    const index = this.#stack.indexOf(connection)
    if (index !== -1) this.#stack.splice(index, 1)
  }

  /** Ends those that nobody has used since then (ms since 1970). */
  closeIdleSince(than: number): void {
    while (this.#stack[0] && this.#stack[0].idleSince < than) this.#stack.shift()?.destroy()
    if (this.#stack.length === 0) this.#nonEmptyPools.delete(this)
  }

  closeAll(): void {
    for (const connection of this.#stack.splice(0)) connection.destroy()
  }
}
