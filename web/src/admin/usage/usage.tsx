import { useId, useMemo } from 'react'
import { useTranslations } from 'use-intl/react'
import { idleStops, type IdleStop, type UsageResponse } from '@berth/api/schemas/administration/usage.ts'
import { AdminPage, QueryError } from '#/admin/admin-page.tsx'
import { Figure, Figures } from '#/admin/figure.tsx'
import type { Drawing, Line } from '#/admin/plots/options.ts'
import { Plot } from '#/admin/plots/plot.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { Segments } from '#/admin/segments.tsx'
import { navigateReplacing, useLocation } from '#/router/router.ts'
import { serverNow } from '#/time/time.tsx'
import { UsageRows } from './usage-rows.tsx'
import { UsageScope, UsageSubject, usagePath } from './usage-scope.tsx'
import {
  hoursOf,
  nothing,
  periodsBetween,
  readUsageView,
  totalOf,
  type UsageUnit,
  type UsageView,
} from './usage-view.ts'
import { useUsageNumbers, useUsagePeriods, type UsageNumbers } from './use-usage.ts'

/** How Berth is used: sums over time, of all, a type, a group or a user. */
export function Usage() {
  const t = useTranslations('admin')
  const view = readUsageView(useLocation().query)
  const query = useUsagePeriods(view)
  return (
    <AdminPage title={t('shell.usage')}>
      <p className="hint about">{t('usage.about')}</p>
      <UsageScope view={view} />
      <QueryError query={query} />
      {query.data && <Report view={view} answer={query.data} />}
    </AdminPage>
  )
}

function Report({ view, answer }: { view: UsageView; answer: UsageResponse }) {
  const t = useTranslations('admin.usage')
  const drawings = useUsageDrawings(answer, view.unit, view.stop)
  const total = totalOf(answer.rows)
  if (!answer.is_recorded && answer.rows.length === 0) return <p className="note">{t('notRecorded')}</p>
  return (
    <>
      <UsageSubject view={view} subject={answer.subject} />
      {answer.rows.length === 0 ? (
        <p>{t('none')}</p>
      ) : (
        <>
          <UsageFigures total={total} unit={view.unit} answer={answer} />
          <IdleStopAnswer
            total={total}
            unit={view.unit}
            stop={view.stop}
            drawing={drawings.saved}
            onChange={(stop) => navigateReplacing(usagePath({ ...view, stop }))}
          />
          <UsagePlots drawings={drawings} />
          <UsageRows view={view} range={answer} />
        </>
      )}
    </>
  )
}

interface UsageFiguresProps {
  total: ReturnType<typeof totalOf>
  unit: UsageUnit
  answer: Pick<UsageResponse, 'from' | 'until'>
}

/** The sums of the time shown. */
function UsageFigures({ total, unit, answer }: UsageFiguresProps) {
  const t = useTranslations('admin.usage.figure')
  const { percent } = useQuantities()
  const { hours, gibHours, period } = useUsageNumbers(unit)
  const share = (part: number, whole: number) => percent(whole > 0 ? part / whole : 0)
  const isMeasured = total.measured_hours > 0
  return (
    <div className="usage-figures">
      <Figures>
        <Figure
          label={t('running')}
          value={hours(total.running_hours)}
          meaning={t('between', { from: period(answer.from), until: period(answer.until) })}
        />
        <Figure
          label={t('used')}
          value={hours(total.used_hours)}
          meaning={t('usedOf', { share: share(total.used_hours, total.running_hours) })}
        />
        {isMeasured ? (
          <>
            <Figure
              label={t('cpu')}
              value={hours(total.cpu_hours)}
              meaning={t('takenOf', {
                allowed: hours(total.core_hours),
                share: share(total.cpu_hours, total.core_hours),
              })}
            />
            <Figure
              label={t('memory')}
              value={gibHours(total.memory_used_gib_hours)}
              meaning={t('takenOf', {
                allowed: gibHours(total.memory_gib_hours),
                share: share(total.memory_used_gib_hours, total.memory_gib_hours),
              })}
            />
          </>
        ) : (
          <>
            <Figure label={t('cpu')} value={hours(total.core_hours)} meaning={t('allowed')} />
            <Figure label={t('memory')} value={gibHours(total.memory_gib_hours)} meaning={t('allowed')} />
          </>
        )}
        {total.gpu_hours > 0 && <Figure label={t('gpus')} value={hours(total.gpu_hours)} meaning={t('held')} />}
      </Figures>
    </div>
  )
}

/** Use over time. */
function UsagePlots({ drawings }: { drawings: ReturnType<typeof useUsageDrawings> }) {
  const t = useTranslations('admin.usage')
  return (
    <section className="plots" aria-labelledby="usage-over-time">
      <h2 id="usage-over-time">{t('over')}</h2>
      <div className="plot-grid">
        <Plot title={t('plots.hours')} drawing={drawings.hours} />
        <Plot title={t('plots.cpu')} drawing={drawings.cpu} />
        <Plot title={t('plots.memory')} drawing={drawings.memory} />
        {drawings.homes && <Plot title={t('plots.homes')} drawing={drawings.homes} />}
      </div>
    </section>
  )
}

type Periods = Pick<UsageResponse, 'from' | 'until' | 'rows' | 'time_zone' | 'is_measured'>

type Translate = ReturnType<typeof useTranslations<'admin.usage.line'>>

/** The plots of use, the same objects while their data is the same. */
function useUsageDrawings(answer: Periods, unit: UsageUnit, stop: IdleStop) {
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
  const common = {
    times: names.map((_, index) => index),
    span: names.length,
    periods: unit,
    minTop: 1,
    writeTime: (index: number) => period(names[index] ?? ''),
  } as const
  const isMeasured = rows.some((row) => row.measured_hours > 0)
  type Value = (row: (typeof rows)[number]) => number
  const line = (label: string, variant: Line['variant'], value: Value): Line => ({
    label,
    variant,
    values: rows.map(value),
  })
  const measured = (value: Value) => (isMeasured ? [line(t('taken'), 'first', value)] : [])
  const drawings: Record<'hours' | 'cpu' | 'memory' | 'saved', Drawing> & { homes?: Drawing } = {
    hours: {
      ...common,
      isBars: true,
      writeValue: hours,
      lines: [
        line(t('unused'), 'second', (row) => row.running_hours - row.used_hours),
        line(t('used'), 'first', (row) => row.used_hours),
      ],
    },
    cpu: {
      ...common,
      isSum: true,
      writeValue: hours,
      lines: [...measured((row) => row.cpu_hours), line(t('allowed'), 'second', (row) => row.core_hours)],
    },
    memory: {
      ...common,
      isSum: true,
      writeValue: gibHours,
      lines: [
        ...measured((row) => row.memory_used_gib_hours),
        line(t('allowed'), 'second', (row) => row.memory_gib_hours),
      ],
    },
    saved: {
      ...common,
      isBars: true,
      writeValue: hours,
      lines: [
        line(t('saved'), 'second', (row) => row.idle_stop_would_save[stop]),
        line(t('kept'), 'first', (row) => row.running_hours - row.idle_stop_would_save[stop]),
      ],
    },
  }
  if (rows.some((row) => row.home_gib_hours > 0)) {
    // Unknown where nothing was measured: no home takes nothing.
    const mean = rows.map((row, index) =>
      row.home_gib_hours > 0 ? row.home_gib_hours / hoursOf(names[index] ?? '', now, answer.time_zone) : null,
    )
    drawings.homes = { ...common, writeValue: gib, lines: [{ label: t('homes'), variant: 'first', values: mean }] }
  }
  return drawings
}

interface IdleStopProps {
  total: ReturnType<typeof totalOf>
  unit: UsageUnit
  stop: IdleStop
  drawing: Drawing
  onChange(stop: IdleStop): void
}

/** What a stop of idle containers would have saved, by the time that the reader chooses. */
function IdleStopAnswer({ total, unit, stop, drawing, onChange }: IdleStopProps) {
  const t = useTranslations('admin.usage.idleStop')
  const { percent } = useQuantities()
  const { hours } = useUsageNumbers(unit)
  const name = useId()
  const [saved, running] = [total.idle_stop_would_save[stop], total.running_hours]
  return (
    <section className="plots idle-stop" aria-labelledby={name}>
      <div className="section-head">
        <h2 id={name}>{t('title')}</h2>
        <Segments
          label={t('after')}
          options={idleStops}
          chosen={stop}
          textOf={(each) => t('minutes', { minutes: Number(each) })}
          isWrapping
          onChange={onChange}
        />
      </div>
      <p role="status" className="idle-stop-answer">
        {t('answer', {
          minutes: t('minutes', { minutes: Number(stop) }),
          saved: hours(saved),
          running: hours(running),
          share: percent(running > 0 ? saved / running : 0),
        })}
      </p>
      <p className="hint">{t('hint')}</p>
      <div className="plot-grid">
        <Plot title={t('plot')} drawing={drawing} />
      </div>
    </section>
  )
}
