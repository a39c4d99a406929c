/** Whether this is `npm run test:long`, which takes whatever time it needs. */
const isLong = process.env.BERTH_TESTS === 'long'

/**
 * How many times longer than on two quick cores everything takes on this machine, as `npm test` measured it before its
 * first test; 1 in a file that runs by itself.
 */
export const slowness = Math.max(1, Number(process.env.BERTH_TEST_SLOWNESS ?? 1))

/**
 * How long a test waits at most for what has to happen, in ms, when `ms` are plenty on two quick cores. Nothing is
 * asserted by it.
 */
export const waitLimit = (ms: number): number => Math.round(ms * slowness)

/**
 * How long a test waits before it looks again for what has to happen, in ms. A look takes a request to Berth or to the
 * engine, so that one that has waited for long looks less often; it sees what happens a tenth later at most.
 * @param waited ms since the first look
 */
export const pauseBetweenLooks = (waited: number): number => Math.min(100, Math.max(10, waited / 10))

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
 * How long something may take, in ms, that takes less than `ms` on two quick cores which have nothing else to do: `npm
 * test` may run where there is three times as much to do, and on a slower machine; `npm run test:long` holds the figure
 * itself.
 */
export const timeLimit = (ms: number): number => (isLong ? ms : Math.round(3 * ms * slowness))

/** Of tests that differ in one value: options of the one at this place of the list, of which `npm test` runs the first. */
export const firstOfList = (index: number) => (index === 0 ? {} : onlyLong)
