import { lazy, type ComponentType } from 'react'
import { isServerReachable } from '#/api/connectivity.ts'
import { loadChunk } from '#/router/load-chunk.ts'

const chunkParts = { isServerReachable, reload: () => location.reload(), storage: () => sessionStorage }

/** A component of a chunk that is loaded on demand. @param name of the export */
export function lazyExport<N extends string, P extends object>(
  name: N,
  load: () => Promise<Readonly<Record<N, ComponentType<P>>>>,
) {
  return lazy(async () => ({ default: (await loadChunk(load, chunkParts))[name] }))
}
