/** The parts of web storage that the front end uses. */
export type WebStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/**
 * Runs work with web storage, which may be disabled (even its name in a default parameter throws then), full, or hold
 * invalid data; undefined then. What is stored only spares users something.
 */
export function withStorage<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
