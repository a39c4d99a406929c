/** A chunk of the front end could not be loaded, and a reload of the page did not help or was not possible. */
export class ChunkLoadError extends Error {
  constructor(cause: unknown) {
    super('A part of the front end could not be loaded', { cause })
    this.name = 'PartMissing'
  }
}

export interface LoadChunkParts {
  /** Whether the server answers: without it a reload shows the browser's own error page. */
  readonly isServerReachable: () => Promise<boolean>
  readonly reload: () => void
  /** Survives reloads of the tab; access may be forbidden. */
  readonly storage: () => Pick<Storage, 'getItem' | 'setItem'>
}

const key = 'berth.reloaded'
/** A second failure within this many ms causes no further reload. */
const reloadInterval = 60_000

/**
 * Loads a chunk that is not part of the first load. After an update the server no longer has the old page's chunks: the
 * page then reloads once. @throws {ChunkLoadError}
 */
export async function loadChunk<T>(load: () => Promise<T>, parts: LoadChunkParts, now = Date.now()): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(await parts.isServerReachable()) || !mayReload(parts.storage, now)) throw new ChunkLoadError(error)
    parts.reload()
    // The document is being replaced; nothing is shown until then.
    return new Promise(() => undefined)
  }
}

/**
 * Records the attempt, too. Without storage it is unknown whether a reload was tried before, so the page does not
 * reload.
 */
function mayReload(storage: LoadChunkParts['storage'], now: number): boolean {
  try {
    const age = now - Number(storage().getItem(key) ?? 0)
    storage().setItem(key, String(now))
    return !(age >= 0 && age < reloadInterval)
  } catch {
    return false
  }
}
