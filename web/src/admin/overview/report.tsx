import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { createApiClient } from '#/api/api-client.ts'
import { healthOf } from './health.ts'

/** Poll intervals in ms; a hidden page does not poll. */
const [reportEvery, historyEvery] = [10_000, 60_000]

/** The current report, polled every ten seconds. */
export const useReport = () =>
  useQuery({
    queryKey: ['admin', 'system'],
    queryFn: ({ signal }) => createApiClient(signal).systemReport(),
    refetchInterval: reportEvery,
  })

/** The history of the last day. @param isPolled every minute, which is the rate of new samples; else it is read once */
export const useHistory = (isPolled = true) =>
  useQuery({
    queryKey: ['admin', 'history'],
    queryFn: async ({ signal }) => (await createApiClient(signal).systemHistory()).samples,
    refetchInterval: isPolled && historyEvery,
  })

/** The health of the installation in one sentence. */
function HealthSentence({ report }: { report: SystemReport }) {
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
