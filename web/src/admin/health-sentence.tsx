import type { SystemReport } from '@berth/api/schemas/admin.ts'
import { useTranslations } from 'use-intl/react'
import { healthOf } from './overview/health.ts'

/** How the installation is, in one sentence. */
export function HealthSentence({ report }: { report: SystemReport }) {
  const t = useTranslations('admin.overview.health')
  const health = healthOf(report)
  const count = health === 'warned' ? report.warnings.length : report.reconciler.failures.length
  return t(health, { count })
}

/**
 * The same for who does not see the page, read out when it changes. Warnings themselves are no live region: there are numbers
 * in them that change with every look.
 */
export function HealthStatus({ report }: { report: SystemReport | undefined }) {
  return (
    <p role="status" className="visually-hidden">
      {report && <HealthSentence report={report} />}
    </p>
  )
}
