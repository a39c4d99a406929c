import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Delay in ms: the start has loaded everything by then. */
const delay = 5_000
/** Pause in ms between two collections, so that a request waits for one of them at most. */
const pause = 1_000
/**
 * In bytes: a collection of so much takes some 30 ms. Of a larger heap, with thousands of containers, there is one alone, which takes
 * 150 to 250 ms with 20,000; the API process is above both then.
 */
const [maxHeap, maxLargeHeap] = [32 * 1024 ** 2, 96 * 1024 ** 2]

type CollectGarbage = (options: { type: 'major'; execution: 'sync'; flavor: 'regular' | 'last-resort' }) => void

/**
 * Gives back, once and soon, what loading the program left behind. V8 collects when memory is asked for, which an idle
 * process never does: it would keep 5 MB for nothing, and 4 MB of code that only the start executes. V8 flushes the code
 * of a function that was not executed between two collections; the third one returns the pages.
 */
export function collectGarbageOnce(): void {
  setTimeout(() => {
    const { heapUsed } = process.memoryUsage()
    if (heapUsed <= maxHeap) void collectThrice()
    else if (heapUsed <= maxLargeHeap) collectLargeHeap()
  }, delay).unref()
}

/**
 * With 20,000 containers the start of the gateway left 45 MB behind, which nothing collected for minutes. A `regular` collection keeps
 * the pages for a quarter of a minute more.
 */
function collectLargeHeap(): void {
  limitHeapGrowth()
  exposedCollector()({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

function exposedCollector(): CollectGarbage {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as CollectGarbage
}

async function collectThrice(): Promise<void> {
  const collect = exposedCollector()
  setFlagsFromString('--bytecode-old-age=1')
  setFlagsFromString('--flush-baseline-code')
  for (const flavor of ['regular', 'regular', 'last-resort'] as const) {
    collect({ type: 'major', execution: 'sync', flavor })
    await sleep(pause, undefined, { ref: false })
  }
  setFlagsFromString('--bytecode-old-age=6')
  setFlagsFromString('--no-flush-baseline-code')
}

/** For a process that may have to start its program at once, later: V8 keeps the code that was compiled, from now on or no longer. */
export function keepCode(isKept: boolean): void {
  setFlagsFromString(isKept ? '--no-flush-bytecode' : '--flush-bytecode')
}

/**
 * From now on the heap grows by an eighth of what is in use. With 20,000 containers and a morning of launches both
 * processes had 459 MB together where the API process grew by a quarter, and the gateway as V8 likes; from the start on it
 * would make that start a second longer.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=12')
}
