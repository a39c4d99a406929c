import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long work may keep the event loop, in ms. */
const maxBlock = 10

/**
 * For a loop that may find all it waits for to be there, so that nothing else would run until its end: a turn of the
 * event loop every ten milliseconds of it.
 * @returns called once in each round; undefined while there is no need to wait
 */
export function eventLoopTurns(): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < maxBlock) return undefined
    return nextTurn().then(() => void (began = performance.now()))
  }
}
