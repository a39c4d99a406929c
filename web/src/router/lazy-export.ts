import type { ComponentType } from 'react'
import { isServerReachable } from '#/api/connectivity.ts'
import { lazyPart, loadChunk } from './lazy-part.ts'

/** What a chunk that cannot be loaded asks of this document. */
export const chunkParts = { isServerReachable, reload: () => location.reload(), storage: () => sessionStorage }

/**
 * A component of a chunk that is loaded on demand.
 * @param name of the export
 * @param isFirst the document is of its page, see `lazyPart`
 */
export const lazyExport = <N extends string, P extends object>(
  name: N,
  load: () => Promise<Readonly<Record<N, ComponentType<P>>>>,
  isFirst = false,
) => lazyPart(async () => ({ default: (await loadChunk(load, chunkParts))[name] }), isFirst)
