import { median } from './figures.ts'

/** What is measured beside open streams, each in ms. */
export type Sample = Readonly<Record<'launch' | 'ping' | 'list', readonly number[]>>

/**
 * Max ratio of the medians with and without streams. The goal is that nothing is slower; without other load the ratios were 0.89 to
 * 1.00, so that the machine alone scatters by a tenth. Twice that is a difference.
 */
export const maxRatio = 1.2

export const ratioOf = (without: readonly number[], during: readonly number[]): number =>
  median(during) / median(without)

/**
 * @param without before the streams were opened and after they were closed, because a machine's speed varies
 * @param statuses of the streams
 * @returns missed goals
 */
export function missedGoals(without: Sample, during: Sample, statuses: readonly number[]): string[] {
  const refused = statuses.filter((status) => status !== 200)
  const slower = (['launch', 'ping', 'list'] as const).flatMap((kind) => {
    const ratio = ratioOf(without[kind], during[kind])
    return ratio <= maxRatio ? [] : [`${kind} took ${ratio.toFixed(2)} times as long at the median`]
  })
  return [...(refused.length > 0 ? [`${refused.length} streams were refused: ${refused[0]}`] : []), ...slower]
}
