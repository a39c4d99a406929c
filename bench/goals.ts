import { median, percentile } from './figures.ts'

/** What is measured beside open streams, each in ms. */
export type Sample = Readonly<Record<'launch' | 'ping' | 'list', readonly number[]>>

/**
 * Max ratio of the medians with and without streams. The goal is that nothing is slower; without other load the ratios were 0.89 to
 * 1.00, so that the machine alone scatters by a tenth. Twice that is a difference.
 */
export const maxBesideStreams = 1.2

export const ratioOfMedians = (without: readonly number[], during: readonly number[]): number =>
  median(during) / median(without)

/**
 * @param without before the streams were opened and after they were closed, because a machine's speed varies
 * @param statuses of the streams
 * @returns missed goals
 */
export function missedBesideStreams(without: Sample, during: Sample, statuses: readonly number[]): string[] {
  const refused = statuses.filter((status) => status !== 200)
  const slower = (['launch', 'ping', 'list'] as const).flatMap((kind) => {
    const ratio = ratioOfMedians(without[kind], during[kind])
    return ratio <= maxBesideStreams ? [] : [`${kind} took ${ratio.toFixed(2)} times as long at the median`]
  })
  return [...(refused.length > 0 ? [`${refused.length} streams were refused: ${refused[0]}`] : []), ...slower]
}

/** Max ratio of the 95th percentiles of launches beside a build and without one. */
export const maxBesideBuild = 1.3

/** @param alone ms of launches without a build @param beside of as many beside one */
export const ratioOfSlowest = (alone: readonly number[], beside: readonly number[]): number =>
  percentile(beside, 0.95) / percentile(alone, 0.95)

/** @returns missed goals; what was not measured is one */
export function missedBesideBuild(alone: readonly number[], beside: readonly number[]): string[] {
  const ratio = ratioOfSlowest(alone, beside)
  return ratio <= maxBesideBuild
    ? []
    : [`launches beside a build took ${ratio.toFixed(2)} times as long at the 95th percentile`]
}
