import { percentile } from './figures.ts'

/** Max ratio of the 95th percentiles of launches beside a build and without one. */
export const maxRatio = 1.3

/** @param alone ms of launches without a build @param beside of as many beside one */
export const ratioOf = (alone: readonly number[], beside: readonly number[]): number =>
  percentile(beside, 0.95) / percentile(alone, 0.95)

/** @returns missed goals; what was not measured is one */
export function missedGoals(alone: readonly number[], beside: readonly number[]): string[] {
  const ratio = ratioOf(alone, beside)
  return ratio <= maxRatio
    ? []
    : [`launches beside a build took ${ratio.toFixed(2)} times as long at the 95th percentile`]
}
