import type { UpstreamConnection } from './upstream-connection.ts'

/** Max idle connections to one upstream. */
const maxIdleConnections = 64

/** Connection pool: idle connections to one upstream. Last in, first out, so that surplus connections become stale and close. */
export class ConnectionPool {
  readonly #stack: UpstreamConnection[] = []
  readonly #nonEmptyPools: Set<ConnectionPool>

  /** @param nonEmptyPools the index of pools with connections, which this one enters by itself: scanning 10,000 routes takes 5 ms */
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

  /** Closes those that were idle since before then (by `clock.now`). */
  closeIdleSince(than: number): void {
    while (this.#stack[0] && this.#stack[0].idleSince < than) this.#stack.shift()?.destroy()
    if (this.#stack.length === 0) this.#nonEmptyPools.delete(this)
  }

  closeAll(): void {
    for (const connection of this.#stack.splice(0)) connection.destroy()
  }
}
