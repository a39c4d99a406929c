import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Delay in ms: the start has loaded everything by then. */
const delay = 5_000
/** Pause in ms between two collections, so that a request waits for one of them at most. */
const pause = 1_000
/** In bytes: a collection of so much takes some 30 ms, of a larger heap the pause would be felt. */
const maxHeap = 32 * 1024 ** 2

type CollectGarbage = (options: { type: 'major'; execution: 'sync'; flavor: 'regular' | 'last-resort' }) => void

/**
 * Gives back, once and soon, what loading the program left behind. V8 collects when memory is asked for, which an idle
 * process never does: it would keep 5 MB for nothing, and 4 MB of code that only the start executes. V8 flushes the code
 * of a function that was not executed between two collections; the third one returns the pages.
 */
export function collectGarbageOnce(): void {
  setTimeout(() => {
    if (process.memoryUsage().heapUsed <= maxHeap) void collectThrice()
  }, delay).unref()
}

async function collectThrice(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as CollectGarbage
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
 * processes have 459 MB together where this one grows by a quarter and the gateway's as V8 likes; from the start on it
 * would make that start a second longer.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=12')
}
