import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { healthOf } from './overview/health.ts'

/** The health of the installation in one sentence. */
export function HealthSentence({ report }: { report: SystemReport }) {
  const t = useTranslations('admin.overview.health')
  const health = healthOf(report)
  const count = health === 'warned' ? report.warnings.length : report.reconciler.failures.length
  return t(health, { count })
}

/**
 * The same for screen readers, announced when it changes. The warnings themselves are no live region: their numbers
 * change with every poll.
 */
export function HealthStatus({ report }: { report: SystemReport | undefined }) {
  return (
    <p role="status" className="visually-hidden">
      {report && <HealthSentence report={report} />}
    </p>
  )
}
