/** A part of the front end could not be loaded, and reloading the page by itself did not help, or would not. */
export class ChunkLoadError extends Error {
  constructor(cause: unknown) {
    super('A part of the front end could not be loaded', { cause })
    this.name = 'PartMissing'
  }
}

export interface LoadChunkParts {
  /** Whether the server answers: without it a reload leads to the browser's own page of errors. */
  readonly isServerReachable: () => Promise<boolean>
  readonly reload: () => void
  /** Kept while the tab lives, across reloads; it may be forbidden to touch it. */
  readonly storage: () => Pick<Storage, 'getItem' | 'setItem'>
}

const key = 'berth.reloaded'
/** ms within which a second failure is not mended by reloading once more. */
const reloadInterval = 60_000

/**
 * Loads a part of the front end that comes later. After an update of the server the old page's parts are gone from it: then
 * the page reloads, once. @throws {ChunkLoadError}
 */
export async function loadChunk<T>(load: () => Promise<T>, parts: LoadChunkParts, now = Date.now()): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(await parts.isServerReachable()) || !mayReload(parts.storage, now)) throw new ChunkLoadError(error)
    parts.reload()
    // The document goes away; nothing is to be shown until then.
    return new Promise(() => undefined)
  }
}

/** Notes it, too. Without storage nobody knows whether it was tried before, so it is not. */
function mayReload(storage: LoadChunkParts['storage'], now: number): boolean {
  try {
    const age = now - Number(storage().getItem(key) ?? 0)
    storage().setItem(key, String(now))
    return !(age >= 0 && age < reloadInterval)
  } catch {
    return false
  }
}
