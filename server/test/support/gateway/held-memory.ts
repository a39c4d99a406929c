import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes of the heap and of buffers, without what nothing refers to. */
export async function heldMemory(): Promise<{ heap: number; buffers: number }> {
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn()
    collectGarbage()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return { heap: heapUsed, buffers: arrayBuffers }
}

/**
 * How many bytes more the process held at most while `run` ran. Garbage is not counted: when V8 collects it depends on how busy
 * the machine is (the resident memory grew by 128 MB of it once).
 */
export async function mostHeldDuring(run: () => Promise<void>): Promise<number> {
  const size = async () => {
    const { heap, buffers } = await heldMemory()
    return heap + buffers
  }
  const before = await size()
  const ended = new AbortController()
  const most = (async () => {
    let found = before
    while (!ended.signal.aborted) {
      found = Math.max(found, await size())
      await sleep(100, undefined, { signal: ended.signal }).catch(() => {})
    }
    return found
  })()
  await run().finally(() => ended.abort())
  return (await most) - before
}
