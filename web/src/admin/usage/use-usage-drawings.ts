import { useMemo } from 'react'
import type { IdleStop, UsageResponse } from '@berth/api/schemas/administration/usage.ts'
import { useTranslations } from 'use-intl/react'
import type { Drawing, Line } from '#/admin/plots/options.ts'
import { serverNow } from '#/time/server-now.ts'
import { hoursOf, nothing, periodsBetween, type UsageUnit } from './usage-view.ts'
import { useUsageNumbers, type UsageNumbers } from './use-usage-numbers.ts'

type Periods = Pick<UsageResponse, 'from' | 'until' | 'rows' | 'time_zone' | 'is_measured'>

type Translate = ReturnType<typeof useTranslations<'admin.usage.line'>>

/** The plots of use, the same objects while their data is the same. */
export function useUsageDrawings(answer: Periods, unit: UsageUnit, stop: IdleStop) {
  const t = useTranslations('admin.usage.line')
  const numbers = useUsageNumbers(unit)
  return useMemo(
    () => usageDrawings(answer, { unit, stop, now: serverNow() }, t, numbers),
    [answer, unit, stop, t, numbers],
  )
}

interface Shown {
  readonly unit: UsageUnit
  readonly stop: IdleStop
  /** In ms since 1970. */
  readonly now: number
}

/** What was never measured has no line. */
function usageDrawings(
  answer: Periods,
  { unit, stop, now }: Shown,
  t: Translate,
  { hours, gibHours, gib, period }: UsageNumbers,
) {
  const names = periodsBetween(answer.from, answer.until)
  const byKey = new Map(answer.rows.map((row) => [row.key, row]))
  const rows = names.map((key) => byKey.get(key) ?? nothing)
  const all = (value: (row: (typeof rows)[number], index: number) => number) => rows.map(value)
  const common = {
    times: names.map((_, index) => index),
    span: names.length,
    periods: unit,
    minTop: 1,
    writeTime: (index: number) => period(names[index] ?? ''),
  } as const
  const isMeasured = rows.some((row) => row.measured_hours > 0)
  const line = (label: string, variant: Line['variant'], values: (number | null)[]): Line => ({
    label,
    variant,
    values,
  })
  const measured = (values: number[]) => (isMeasured ? [line(t('taken'), 'first', values)] : [])
  const drawings: Record<'hours' | 'cpu' | 'memory' | 'saved', Drawing> & { homes?: Drawing } = {
    hours: {
      ...common,
      isBars: true,
      writeValue: hours,
      lines: [
        line(
          t('unused'),
          'second',
          all((row) => row.running_hours - row.used_hours),
        ),
        line(
          t('used'),
          'first',
          all((row) => row.used_hours),
        ),
      ],
    },
    cpu: {
      ...common,
      isSum: true,
      writeValue: hours,
      lines: [
        ...measured(all((row) => row.cpu_hours)),
        line(
          t('allowed'),
          'second',
          all((row) => row.core_hours),
        ),
      ],
    },
    memory: {
      ...common,
      isSum: true,
      writeValue: gibHours,
      lines: [
        ...measured(all((row) => row.memory_used_gib_hours)),
        line(
          t('allowed'),
          'second',
          all((row) => row.memory_gib_hours),
        ),
      ],
    },
    saved: {
      ...common,
      isBars: true,
      writeValue: hours,
      lines: [
        line(
          t('saved'),
          'second',
          all((row) => row.idle_stop_would_save[stop]),
        ),
        line(
          t('kept'),
          'first',
          all((row) => row.running_hours - row.idle_stop_would_save[stop]),
        ),
      ],
    },
  }
  if (rows.some((row) => row.home_gib_hours > 0)) {
    // Unknown where nothing was measured: no home takes nothing.
    const mean = rows.map((row, index) =>
      row.home_gib_hours > 0 ? row.home_gib_hours / hoursOf(names[index] ?? '', now, answer.time_zone) : null,
    )
    drawings.homes = { ...common, writeValue: gib, lines: [line(t('homes'), 'first', mean)] }
  }
  return drawings
}
