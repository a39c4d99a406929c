import { createElement, lazy, useState, type ComponentType } from 'react'

interface Part<P extends object> {
  readonly default: ComponentType<P>
}

/** Parts whose load began with the document. */
const begun: Promise<unknown>[] = []

/** How long the first rendering waits for them, in ms. */
const maxWait = 1_000

/**
 * A component that is loaded when it is rendered first. One that is there by then is rendered like the others: `lazy`
 * suspends even for a promise that has resolved, and once React has shown a fallback it holds the content back for 0.3
 * s, lest several that end one after the other make the page flicker.
 * @param isFirst the document is of its page: it is loaded at once, and `firstParts` waits for it
 */
export function lazyPart<P extends object>(load: () => Promise<Part<P>>, isFirst: boolean): ComponentType<P> {
  if (!isFirst) return lazy(load)
  let here: Part<P> | undefined
  const early = load()
  begun.push(early.then((part) => (here = part)))
  const Late: ComponentType<P> = lazy(() => early)
  return function First(props) {
    // Chosen once: another component in its place would begin anew.
    const [Shown] = useState(() => here?.default ?? Late)
    return createElement(Shown, props)
  }
}

/** Resolves when the parts of the document's page are there or have failed, or after a second. */
export const firstParts = () =>
  Promise.race([Promise.allSettled(begun), new Promise((resolve) => setTimeout(resolve, maxWait))])

/** A chunk of the front end could not be loaded, and a reload of the page did not help or was not possible. */
export class ChunkLoadError extends Error {
  constructor(cause: unknown) {
    super('A part of the front end could not be loaded', { cause })
    this.name = 'PartMissing'
  }
}

interface LoadChunkParts {
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
