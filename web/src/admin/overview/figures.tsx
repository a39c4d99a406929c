import type { HistorySample, SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { lastHourOf } from './history.ts'

interface OverviewFiguresProps {
  report: SystemReport
  /** Undefined while unknown. */
  samples: readonly HistorySample[] | undefined
}

/** The figures of this moment and of the last hour, each with its explanation. */
export function OverviewFigures({ report, samples }: OverviewFiguresProps) {
  const t = useTranslations('admin.overview.figure')
  const { bytes, count, duration } = useQuantities()
  const { containers, launches, host } = report
  const hour = samples && lastHourOf(samples)
  const when = hour && !hour.isWhole ? t('sinceStart') : t('lastHour')
  const left = (part: SystemReport['host']['memory']) => (part ? bytes(part.left) : undefined)
  const total = (part: SystemReport['host']['memory']) => (part ? t('of', { total: bytes(part.total) }) : undefined)
  return (
    <Figures>
      <Figure
        label={t('running')}
        value={count(containers.running)}
        meaning={containers.max === null ? t('runningAll') : t('runningOf', { max: count(containers.max) })}
      />
      <Figure
        label={t('waiting')}
        value={count(launches.waiting)}
        meaning={t('waitingFor', { count: launches.waiting })}
      />
      <Figure
        label={t('underWay')}
        value={count(launches.under_way)}
        meaning={t('underWayOf', { parallel: count(launches.parallel) })}
      />
      <Figure label={t('launched')} value={hour && count(hour.launched)} meaning={hour && when} />
      <Figure label={t('failed')} value={hour && count(hour.failed)} meaning={hour && when} />
      <Figure
        label={t('ready')}
        value={hour?.ready ? duration(hour.ready.median) : undefined}
        meaning={hour?.ready ? t('readyOf', { p90: duration(hour.ready.p90) }) : hour && t('readyNone')}
      />
      <Figure label={t('memory')} value={left(host.memory)} meaning={total(host.memory)} />
      <Figure label={t('disk')} value={left(host.disk)} meaning={total(host.disk)} />
    </Figures>
  )
}
