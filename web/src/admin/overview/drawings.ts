import { useMemo } from 'react'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useFormatter, useTranslations } from 'use-intl/react'
import type { Drawing } from '#/admin/plots/options.ts'
import { useQuantities } from '#/admin/quantities.ts'
import { ranges, type Moment, type Range } from './history.ts'

/** Whole numbers: containers have no fractions. */
const wholeSteps = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

/** The plots of the overview; the same objects while their data is the same. */
export function useDrawings(moments: readonly Moment[], range: Range, host: SystemReport['host']) {
  const t = useTranslations('admin.overview.line')
  const format = useFormatter()
  const { count, duration, percent } = useQuantities()
  const [memory, disk] = [host.memory?.total ?? null, host.disk?.total ?? null]

  return useMemo(() => {
    const common = {
      times: moments.map(({ at }) => at),
      span: ranges[range].span,
      writeTime: (seconds: number) =>
        format.dateTime(seconds * 1_000, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    }
    const counted = { ...common, minTop: 4, steps: wholeSteps, writeValue: count }
    const all = (value: (moment: Moment) => number | null | undefined) => moments.map((each) => value(each) ?? null)
    // As a share of the total, so that a small memory can be seen beside a large disk.
    const part = (left: number | null, total: number | null) => (left === null || total === null ? null : left / total)
    return {
      running: {
        ...counted,
        lines: [
          { label: t('running'), variant: 'first', values: all(({ running }) => running) },
          { label: t('waiting'), variant: 'second', values: all(({ waiting }) => waiting) },
        ],
      },
      launches: {
        ...counted,
        isBars: true,
        lines: [
          { label: t('launched'), variant: 'first', values: all(({ launched }) => launched) },
          { label: t('failed'), variant: 'bad', values: all(({ failed }) => failed) },
        ],
      },
      ready: {
        ...common,
        minTop: 1,
        writeValue: duration,
        lines: [
          { label: t('median'), variant: 'first', values: all(({ ready_seconds: ready }) => ready?.median) },
          { label: t('p90'), variant: 'second', values: all(({ ready_seconds: ready }) => ready?.p90) },
        ],
      },
      left: {
        ...common,
        minTop: 1,
        top: 1,
        writeValue: percent,
        lines: [
          { label: t('memory'), variant: 'first', values: all((each) => part(each.memory_left, memory)) },
          { label: t('disk'), variant: 'second', values: all((each) => part(each.disk_left, disk)) },
        ],
      },
    } as const satisfies Record<string, Drawing>
  }, [moments, range, memory, disk, t, format, count, duration, percent])
}
