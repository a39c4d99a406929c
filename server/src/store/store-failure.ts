/**
 * The store cannot be read or written now: locked by another program, full, gone, or without an answer. The query
 * itself is correct; it may succeed a little later. The message is for the operator, the cause has details.
 */
export class StoreFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreFailure'
  }
}

/**
 * Timeout of every wait for the store, in ms: for another program's lock, a connection, an answer. The request is
 * refused then, well before the ten seconds that a client has to wait at most.
 */
export const storeTimeout = 4_000
