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

/** Number of problems, with a mail that was not accepted lately. */
const countOf = (report: SystemReport, now: number) =>
  problemCount(report) + (recentFailure(report.mail.last_failure_at, now) === undefined ? 0 : 1)

/** Beside the title, in one line: that nothing needs attention. */
export function Healthy({ report }: { report: SystemReport }) {
  const t = useTranslations('admin.overview.health')
  const count = countOf(report, useServerNow(60_000))
  return count === 0 && <p className="hint">{t(healthOf(report) === 'starting' ? 'starting' : 'well')}</p>
}

/** What needs attention, worst first; nothing when nothing does. The page of the system has the details. */
export function Attention({ report }: { report: SystemReport }) {
  const t = useTranslations('admin.overview')
  const instants = useInstants()
  const now = useServerNow(60_000)
  const { path } = useLocation()
  const health = healthOf(report)
  const { failures } = report.reconciler
  const mailFailure = recentFailure(report.mail.last_failure_at, now)
  const toSystem = path !== pages.adminSystem && <Link to={pages.adminSystem}>{t('toSystem')}</Link>
  if (countOf(report, now) === 0) return null
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
