/** Whether this is `npm run test:long`, which takes whatever time it needs. */
const isLong = process.env.BERTH_TESTS === 'long'

/**
 * How much of what can be repeated without end a test does.
 * @param usual in `npm test`, of which the whole takes at most eight minutes
 * @param long  in `npm run test:long`, before a release
 */
export const extent = (usual: number, long: number): number => (isLong ? long : usual)

/**
 * Options of a test that `npm run test:long` alone runs: it tries a variant, or every step of a list, of a fact that a
 * quick test states, too. `npm test` reports it as skipped.
 */
export const onlyLong = { skip: isLong ? false : 'part of npm run test:long' }

/**
 * How long something may take, in ms, that takes less than `ms` on a machine which has nothing else to do: `npm test` may
 * run where there is three times as much to do, and `npm run test:long` holds the figure itself.
 */
export const timeLimit = (ms: number): number => (isLong ? ms : 3 * ms)

/** Of tests that differ in one value: options of the one at this place of the list, of which `npm test` runs the first. */
export const firstOfList = (index: number) => (index === 0 ? {} : onlyLong)
