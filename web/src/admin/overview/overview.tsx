import { useMemo, useState } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import type { HistorySample, SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { AdminPage, QueryError } from '#/admin/admin-page.tsx'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useInstants } from '#/admin/instants.tsx'
import type { Drawing } from '#/admin/plots/options.ts'
import { Plot } from '#/admin/plots/plot.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { Segments } from '#/admin/segments.tsx'
import { Attention, Healthy } from './attention.tsx'
import { lastHourOf, momentsOf, ranges, type Moment, type Range } from './history.ts'
import { HealthStatus, useHistory, useReport } from './report.tsx'

/** The overview: problems, figures and history. */
export function Overview() {
  const t = useTranslations('admin')
  const [report, history] = [useReport(), useHistory()]
  return (
    <AdminPage title={t('shell.overview')} state={report.data && <Healthy report={report.data} />}>
      <QueryError query={report} />
      <HealthStatus report={report.data} />
      {report.data && <Attention report={report.data} />}
      {report.data && (
        <section aria-labelledby="now">
          <h2 id="now" className="visually-hidden">
            {t('overview.now')}
          </h2>
          <OverviewFigures report={report.data} samples={history.data} />
        </section>
      )}
      {report.data && report.error === null && <QueryError query={history} />}
      {report.data && history.data && <OverviewPlots samples={history.data} host={report.data.host} />}
    </AdminPage>
  )
}

interface OverviewFiguresProps {
  report: SystemReport
  /** Undefined while unknown. */
  samples: readonly HistorySample[] | undefined
}

/** The figures of this moment and of the last hour, each with its explanation. */
function OverviewFigures({ report, samples }: OverviewFiguresProps) {
  const t = useTranslations('admin.overview.figure')
  const { bytes, count, duration } = useQuantities()
  const { containers, launches, gpus, host } = report
  const hour = samples && lastHourOf(samples)
  const when = hour && !hour.isWhole ? t('sinceStart') : t('lastHour')
  const left = (part: SystemReport['host']['memory']) => (part ? bytes(part.left) : undefined)
  const total = (part: SystemReport['host']['memory']) => (part ? t('of', { total: bytes(part.total) }) : undefined)
  return (
    <Figures isInLine>
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
      {gpus && (
        <Figure
          label={t('gpus')}
          value={count(gpus.in_use)}
          meaning={t('gpusOf', { total: count(gpus.total), waiting: gpus.waiting })}
        />
      )}
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

/** The history of the last hours. */
function OverviewPlots({ samples, host }: { samples: readonly HistorySample[]; host: SystemReport['host'] }) {
  const t = useTranslations('admin.overview')
  const instants = useInstants()
  const [range, setRange] = useState<Range>('hours')
  const moments = useMemo(() => momentsOf(samples, range), [samples, range])
  const drawings = useDrawings(moments, range, host)
  const [oldest, newest] = [samples[0], samples.at(-1)]
  const known = oldest && newest ? (Date.parse(newest.at) - Date.parse(oldest.at)) / 1_000 : 0

  return (
    <section className="plots" aria-labelledby="over-time">
      <div className="section-head">
        <h2 id="over-time">{t('over')}</h2>
        {samples.length > 1 && <RangeSwitch range={range} onChange={setRange} />}
      </div>
      {samples.length < 2 ? (
        <p className="hint">{t('empty')}</p>
      ) : (
        <>
          {oldest && known < ranges[range].span * 0.95 && (
            <p className="hint">{t('since', { time: instants.full(oldest.at) })}</p>
          )}
          <div className="plot-grid">
            <Plot title={t('plots.running')} drawing={drawings.running} />
            <Plot title={t('plots.launches', { minutes: ranges[range].step / 60 })} drawing={drawings.launches} />
            <Plot title={t('plots.ready')} drawing={drawings.ready} />
            <Plot title={t('plots.left')} drawing={drawings.left} />
          </div>
        </>
      )}
    </section>
  )
}

/** Whole numbers: containers have no fractions. */
const wholeSteps = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

/** The plots of the overview; the same objects while their data is the same. */
function useDrawings(moments: readonly Moment[], range: Range, host: SystemReport['host']) {
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
    // The values are shares of the total, so that a small memory can be seen beside a large disk.
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

/** Selects the time range of the plots. */
function RangeSwitch({ range, onChange }: { range: Range; onChange(range: Range): void }) {
  const t = useTranslations('admin.overview.range')
  return (
    <Segments
      label={t('label')}
      options={Object.keys(ranges) as Range[]}
      chosen={range}
      textOf={(each) => t(each)}
      onChange={onChange}
    />
  )
}
