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

/** In bytes. */
const compactedHeap = 64 * 1024 ** 2
/** Whether `limitHeapGrowth` found a heap above that. */
let isCompacted = false

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
  if (!isCompacted) growBy(12)
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
 * For the API process, from now on; from the start on it would make that start a second longer. A heap as of some 10,000 containers is
 * compacted at each collection, until a fifth of a page at most is free: without that a morning of launches at 20,000 left 45 MB
 * of free pieces between the objects, and both processes had 394 MB together where they have 367 MB. A smaller heap grows by an
 * eighth of what is in use between two collections, not by as much as V8 likes.
 */
export function limitHeapGrowth(): void {
  isCompacted = process.memoryUsage().heapUsed > compactedHeap
  if (!isCompacted) return growBy(12)
  setFlagsFromString('--optimize-for-size')
  // With 12, compaction took a third more CPU time in that morning.
  growBy(20)
}

/** @param percent of what is in use after a collection; the next one is due then */
function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}
