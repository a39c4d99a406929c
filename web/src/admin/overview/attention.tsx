import { useTranslations } from 'use-intl/react'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useInstants } from '#/admin/instants.tsx'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import { useServerNow } from '#/time/time.tsx'
import { healthOf, recentFailure } from './health.ts'

/** Number of problems, without mail. */
const problemCount = (report: SystemReport) =>
  report.warnings.length + (['engine', 'unfinished'].includes(healthOf(report)) ? 1 : 0)

/** What needs attention, worst first; one line when nothing does. The page of the system has the details. */
export function Attention({ report }: { report: SystemReport }) {
  const t = useTranslations('admin.overview')
  const instants = useInstants()
  const now = useServerNow(60_000)
  const { path } = useLocation()
  const health = healthOf(report)
  const { failures } = report.reconciler
  const mailFailure = recentFailure(report.mail.last_failure_at, now)
  const count = problemCount(report) + (mailFailure === undefined ? 0 : 1)
  const toSystem = path !== pages.adminSystem && <Link to={pages.adminSystem}>{t('toSystem')}</Link>
  if (count === 0) return <p className="healthy">{t(health === 'starting' ? 'health.starting' : 'health.well')}</p>
  return (
    <section className="attention">
      <h2>{t('attention')}</h2>
      <ul>
        {health === 'engine' && <li className="bad">{t('health.engine')}</li>}
        {report.warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
        {health === 'unfinished' && (
          <li>
            {t('health.unfinished', { count: failures.length })} {toSystem}
          </li>
        )}
        {mailFailure !== undefined && (
          <li>
            {t('mailFailed', { time: instants.time(mailFailure) })} {toSystem}
          </li>
        )}
      </ul>
    </section>
  )
}
