import type { HistorySample } from '@berth/api/schemas/administration/admin.ts'

/** The time range of the plots. */
export type Range = 'hours' | 'day'

/** Seconds that each range shows, and between two of its values. */
export const ranges = { hours: { span: 7_200, step: 60 }, day: { span: 86_400, step: 600 } } as const

/** A sample as it is drawn; all values are null where the time is unknown. */
export interface Moment extends Drawn {
  /** Seconds since 1970. */
  readonly at: number
}
type Drawn = { readonly [N in 'running' | 'waiting' | 'launched' | 'failed']: number | null } & Pick<
  HistorySample,
  'memory_left' | 'disk_left' | 'ready_seconds'
>

const secondsOf = (at: string) => Date.parse(at) / 1_000

/**
 * The values of a range, oldest first: one per step, and an unknown one in every gap, so that no line crosses it.
 * Counted from the newest sample, because the reader's clock may be wrong.
 */
export function momentsOf(samples: readonly HistorySample[], range: Range): Moment[] {
  const newest = samples.at(-1)
  if (!newest) return []
  const { span, step } = ranges[range]
  const shown = samples.filter(({ at }) => secondsOf(at) > secondsOf(newest.at) - span)
  const steps = Object.values(Object.groupBy(shown, ({ at }) => Math.ceil(secondsOf(at) / step)))
  const moments = steps.map((group) => joined(group ?? []))
  return moments.flatMap((moment, index) => {
    const before = moments[index - 1]
    return before && moment.at - before.at > step * 2.5 ? [unknownAfter(before, step), moment] : [moment]
  })
}

/** Joins several samples: states at their end, and the sum of events. */
function joined(samples: readonly HistorySample[]): Moment {
  const last = samples.at(-1)!
  return {
    at: secondsOf(last.at),
    running: last.running,
    waiting: Math.max(...samples.map(({ waiting }) => waiting)),
    launched: sumOf(samples, 'launched'),
    failed: sumOf(samples, 'failed'),
    memory_left: last.memory_left,
    disk_left: last.disk_left,
    ready_seconds: readySecondsOf(samples),
  }
}

/** Medians cannot be joined exactly: this is their mean weighted by launches, and the max of p90. */
function readySecondsOf(samples: readonly HistorySample[]): HistorySample['ready_seconds'] {
  const known = samples.flatMap(({ launched, ready_seconds: ready }) => (ready ? [{ launched, ...ready }] : []))
  if (known.length === 0) return null
  const weight = (launched: number) => Math.max(1, launched)
  const all = known.reduce((sum, { launched }) => sum + weight(launched), 0)
  const median = known.reduce((sum, each) => sum + each.median * weight(each.launched), 0) / all
  return { median, p90: Math.max(...known.map(({ p90 }) => p90)) }
}

const sumOf = (samples: readonly HistorySample[], name: 'launched' | 'failed') =>
  samples.reduce((sum, sample) => sum + sample[name], 0)

const unknownAfter = ({ at }: Moment, step: number): Moment => ({
  at: at + step,
  running: null,
  waiting: null,
  launched: null,
  failed: null,
  memory_left: null,
  disk_left: null,
  ready_seconds: null,
})

/** The launches in the hour before the newest sample; undefined without one. */
interface LastHour {
  readonly launched: number
  readonly failed: number
  readonly ready: HistorySample['ready_seconds']
  /** Whether the samples cover the whole hour. */
  readonly isWhole: boolean
}

export function lastHourOf(samples: readonly HistorySample[]): LastHour | undefined {
  const [oldest, newest] = [samples[0], samples.at(-1)]
  if (!oldest || !newest) return undefined
  const from = secondsOf(newest.at) - 3_600
  const latest = samples.filter(({ at }) => secondsOf(at) > from)
  return {
    launched: sumOf(latest, 'launched'),
    failed: sumOf(latest, 'failed'),
    ready: readySecondsOf(latest),
    // A sample covers the minute before it.
    isWhole: secondsOf(oldest.at) - 60 <= from,
  }
}
