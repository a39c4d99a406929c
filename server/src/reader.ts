import { openReadingParts } from '#/adapters.ts'
import type { Reader } from '#/nodes/reading/reading.ts'
import { startReader, type ReaderParts } from '#/wiring/reader/wire-reader.ts'

/**
 * The reader of a follower, with a store and an engine of its own. A follower loads this module, and no other node.
 * @throws when it cannot listen, or the store is not read
 */
export async function openReader(parts: Omit<ReaderParts, 'database' | 'runtime'>): Promise<Reader> {
  const opened = await openReadingParts(parts.config, parts.log)
  try {
    return await startReader({ ...parts, ...opened })
  } catch (error) {
    await opened.database.close()
    throw error
  }
}
