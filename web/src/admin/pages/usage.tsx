import type { UsageResponse } from '@berth/api/schemas/administration/usage.ts'
import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { QueryError } from '#/admin/query-error.tsx'
import { IdleStopAnswer } from '#/admin/usage/idle-stop.tsx'
import { UsageFigures } from '#/admin/usage/usage-figures.tsx'
import { UsagePlots } from '#/admin/usage/usage-plots.tsx'
import { UsageRows } from '#/admin/usage/usage-rows.tsx'
import { usagePath, UsageScope, UsageSubject } from '#/admin/usage/usage-scope.tsx'
import { readUsageView, totalOf, type UsageView } from '#/admin/usage/usage-view.ts'
import { useUsageDrawings } from '#/admin/usage/use-usage-drawings.ts'
import { useUsagePeriods } from '#/admin/usage/use-usage.ts'
import { navigateReplacing, useLocation } from '#/router/router.ts'

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
