/**
 * The store could not be asked, or could not write: locked by another program, full, gone, or silent. Nothing is wrong
 * with what was asked; the same may work a little later. Its message is for the operator, the cause says more.
 */
export class StoreFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreFailure'
  }
}

/**
 * How long anything may wait for the store, in ms: for another program's lock, for a connection, for an answer. Whatever
 * it is part of is then refused, well before the ten seconds that a person is asked to wait.
 */
export const storeTimeout = 4_000
