import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { HealthStatus } from '#/admin/health-sentence.tsx'
import { QueryError } from '#/admin/query-error.tsx'
import { Attention } from '#/admin/overview/attention.tsx'
import { OverviewFigures } from '#/admin/overview/figures.tsx'
import { OverviewPlots } from '#/admin/overview/plots.tsx'
import { useHistory, useReport } from '#/admin/overview/use-report.ts'

/** The overview: problems, figures and history. */
export function Overview() {
  const t = useTranslations('admin')
  const [report, history] = [useReport(), useHistory()]
  return (
    <AdminPage title={t('shell.overview')}>
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
