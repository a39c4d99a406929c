import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long CPU time is looked at, and how long quiet is waited for, in ms. */
const [window, limit] = [2_000, 120_000]
/** Share of the CPU time of this machine, on which a cluster of the tests has its nodes, that counts as quiet. */
const quiet = 0.15

/** What a turn leaves behind, and for how long. */
export interface Quiet {
  /** In ms. */
  readonly waited: number
  /** Share of all processors in the last window. */
  readonly busy: number
  /** Pods that were left when the wait ended. */
  readonly pods: number
}

/**
 * Waits until no pod is left of the turn before, and the processors are quiet: nodes go on ending what has been deleted.
 * @param countPods that are to go
 * @returns what was reached, after two minutes at the latest
 */
export async function untilQuiet(countPods: () => Promise<number>): Promise<Quiet> {
  const began = performance.now()
  for (;;) {
    const before = processorTimes()
    await sleep(window)
    const after = processorTimes()
    const [busy, pods] = [1 - (after.idle - before.idle) / (after.all - before.all), await countPods()]
    const waited = performance.now() - began
    if ((pods === 0 && busy <= quiet) || waited > limit) return { waited, busy, pods }
  }
}

/** In ticks since the start of the machine. */
function processorTimes(): { idle: number; all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, ...rest] = line.split(/\s+/).slice(1, 9).map(Number)
  const others = rest.reduce((sum, each) => sum + each, 0)
  return { idle: idle + wait, all: user + nice + system + idle + wait + others }
}
