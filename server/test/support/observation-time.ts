import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Lets time pass in which something could happen that must not: no event announces that it did not.
 * @param ms how long it would take at most on an idle machine
 */
export const observationTime = (ms: number): Promise<void> => sleep(ms)
