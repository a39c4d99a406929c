import { openReadingParts } from './adapters.ts'
import type { Reader } from '#/nodes/reading.ts'
import { startReader, type ReaderParts } from './wire-reader.ts'

/**
 * The reader of a follower, with a store and an engine of its own. A follower loads this module, and no other node.
 * @throws when it cannot listen, or the store is not read
 */
export async function openReader(parts: Omit<ReaderParts, 'database' | 'runtime'>): Promise<Reader> {
  const opened = await openReadingParts(parts.config, parts.log)
  const closing = new AbortController()
  // A cluster finds pods by their names: those of new ones come by the watch.
  if (!opened.runtime.capabilities.keepsStopped) opened.runtime.watch(() => undefined, closing.signal)
  try {
    const reader = await startReader({ ...parts, ...opened })
    const close = async () => {
      closing.abort()
      await reader.close()
    }
    return { ...reader, close }
  } catch (error) {
    closing.abort()
    await opened.database.close()
    throw error
  }
}
