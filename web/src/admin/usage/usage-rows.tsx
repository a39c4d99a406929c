import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { UsageResponse, UsageRow } from '@berth/api/schemas/administration/usage.ts'
import { QueryError } from '#/admin/admin-page.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { Segments } from '#/admin/segments.tsx'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { downloadFile } from '#/components/download-file.ts'
import { Options } from '#/components/field.tsx'
import { Link } from '#/components/link.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { useTask } from '#/components/use-task.ts'
import { navigate } from '#/router/router.ts'
import { exportUsage, usageFileName, type UsagePageQuery } from './export-usage.ts'
import { usagePath } from './usage-scope.tsx'
import { periodsBetween, type UsageBy, type UsageView } from './usage-view.ts'
import { conditionsOf, rowConditionsOf, useUsageNumbers, useUsageRows, viewOfRow } from './use-usage.ts'

/** Types, groups or users by hours running, the longest first, and all of them as a file. */
export function UsageRows({ view, range }: { view: UsageView; range: Pick<UsageResponse, 'from' | 'until'> }) {
  const t = useTranslations('admin.usage.rows')
  const title = useId()
  const query = useUsageRows(view)
  const rows = query.data?.pages.flatMap((page) => page.rows)
  return (
    <section aria-labelledby={title} className="usage-rows">
      <div className="section-head">
        <h2 id={title}>{t('title')}</h2>
        {view.user === undefined && <BySwitch view={view} />}
      </div>
      <div className="usage-tools">
        {view.by === 'user' && <PeriodSelect view={view} range={range} />}
        <UsageExport view={view} />
      </div>
      <QueryError query={query} />
      {rows?.length === 0 && <p>{t('none')}</p>}
      {rows && rows.length > 0 && <Table view={view} rows={rows} title={t(view.by)} />}
      <NextPageButton query={query} />
    </section>
  )
}

function BySwitch({ view }: { view: UsageView }) {
  const t = useTranslations('admin.usage.rows')
  const all: readonly UsageBy[] = view.group === undefined ? ['type', 'group', 'user'] : ['type', 'user']
  return (
    <Segments
      label={t('by')}
      options={all}
      chosen={view.by}
      textOf={(by) => t(by)}
      onChange={(by) => navigate(usagePath({ ...view, by, period: undefined }))}
    />
  )
}

/** Users are listed of one day or month: that many rows of many days are not read for a page. */
function PeriodSelect({ view, range }: { view: UsageView; range: Pick<UsageResponse, 'from' | 'until'> }) {
  const t = useTranslations('admin.usage.rows')
  const { period: write } = useUsageNumbers(view.unit)
  const id = useId()
  const newest = periodsBetween(range.from, range.until).toReversed()
  return (
    <div className="usage-period">
      <label htmlFor={id}>{t(`period.${view.unit}`)}</label>
      <select
        id={id}
        value={view.period ?? newest[0]}
        onChange={({ target }) => navigate(usagePath({ ...view, period: target.value }))}
      >
        <Options of={newest.map((each) => [each, write(each)])} />
      </select>
    </div>
  )
}

function Table({ view, rows, title }: { view: UsageView; rows: readonly UsageRow[]; title: string }) {
  const t = useTranslations('admin.usage.rows')
  const { hours, gibHours } = useUsageNumbers(view.unit)
  const { percent } = useQuantities()
  const isMeasured = rows.some((row) => row.measured_hours > 0)
  const hasGpus = rows.some((row) => row.gpu_hours > 0)
  const hasHomes = rows.some((row) => row.home_gib_hours > 0)
  const columns: readonly (readonly [string, (row: UsageRow) => string])[] = [
    [t('running'), (row) => hours(row.running_hours)],
    [t('used'), (row) => hours(row.used_hours)],
    [t(isMeasured ? 'cpuTaken' : 'cpuAllowed'), (row) => hours(isMeasured ? row.cpu_hours : row.core_hours)],
    [
      t(isMeasured ? 'memoryTaken' : 'memoryAllowed'),
      (row) => gibHours(isMeasured ? row.memory_used_gib_hours : row.memory_gib_hours),
    ],
    ...(hasGpus ? [[t('gpus'), (row: UsageRow) => hours(row.gpu_hours)] as const] : []),
    ...(hasHomes ? [[t('homes'), (row: UsageRow) => gibHours(row.home_gib_hours)] as const] : []),
    [t('saved'), (row) => percent(row.running_hours > 0 ? row.idle_stop_would_save[view.stop] / row.running_hours : 0)],
  ]
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region needs a tab stop
    <div className="usage-scroll" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {columns.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">
                <RowName view={view} row={row} />
              </th>
              {columns.map(([name, write]) => (
                <td key={name}>{write(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A link that shows this row alone, unless the page does already. */
function RowName({ view, row: { key, name } }: { view: UsageView; row: UsageRow }) {
  const t = useTranslations('admin.usage')
  const nameOf = useTypeName()
  const title = view.by === 'type' ? key : undefined
  const text = view.by === 'type' ? nameOf(key) : (name ?? t('gone', { id: key }))
  if (view.by === 'type' && view.type === key)
    return (
      <span className="address" title={title}>
        {text}
      </span>
    )
  return (
    <Link to={usagePath(viewOfRow(view, view.by, key))} className="address">
      {text}
    </Link>
  )
}

/** Saves what the table lists, or each day or month, as CSV. Leaving the page cancels it. */
function UsageExport({ view }: { view: UsageView }) {
  const t = useTranslations('admin.usage.export')
  const { busy, error, run } = useTask()
  const [state, setState] = useState<{ count: number; file?: string }>({ count: 0 })

  const save = (query: ReturnType<typeof rowConditionsOf> | ReturnType<typeof conditionsOf>, name: string) =>
    run(async (signal) => {
      setState({ count: 0 })
      const api = createApiClient(signal)
      let [file, count] = ['', 0]
      const listPage = async (page: UsagePageQuery) => {
        const answer = await api.usage({ query: { ...query, ...page } })
        file = usageFileName(name, answer.from, answer.until)
        return answer
      }
      const blob = await exportUsage(listPage, (rows) => setState({ count: (count = rows) }))
      downloadFile(blob, file)
      setState({ count, file })
    })

  return (
    <>
      <Button variant="small" isOff={busy} onPress={() => void save(rowConditionsOf(view), view.by)}>
        {t('rows')}
      </Button>
      <Button variant="small" isOff={busy} onPress={() => void save(conditionsOf(view), view.unit)}>
        {t(view.unit)}
      </Button>
      <p role="status" className="hint live">
        {busy && t('progress', { count: state.count })}
        {!busy && state.file !== undefined && t('done', { count: state.count, file: state.file })}
      </p>
      <Alert error={error} />
    </>
  )
}
