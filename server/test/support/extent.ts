/** Whether this is `npm run test:long`, which takes whatever time it needs. */
const isLong = process.env.BERTH_TESTS === 'long'

/**
 * How much of what can be repeated without end a test does.
 * @param usual in `npm test`, of which the whole takes at most eight minutes
 * @param long  in `npm run test:long`, before a release
 */
export const extent = (usual: number, long: number): number => (isLong ? long : usual)
