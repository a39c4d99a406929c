import type { QuotaUse } from '@berth/server/engines/engine-inspection.ts'
import type { CheckContext, Finding } from './check.ts'
import { clusterOf } from './cluster-of.ts'

/** Share of a quota from which on it is a finding. */
const nearly = 0.9

/** Whether quotas of the namespace leave room for launches. */
export async function checkQuotas(context: CheckContext): Promise<Finding[]> {
  const quotas = await clusterOf(context).quotas()
  if (quotas === null)
    throw new Error(
      'the account of Berth may not list quotas, and need not; run this with the KUBECONFIG of an administrator',
    )
  return quotas.filter(({ share }) => share >= nearly).map(findingOf)
}

const findingOf = ({ quota, resource, used, hard, share }: QuotaUse): Finding => ({
  level: share >= 1 ? 'critical' : 'warning',
  what: `The quota ${quota} allows ${resource} of ${hard}, of which ${used} are used: ${share >= 1 ? 'launches that need it are refused' : 'soon launches are refused'}.`,
  fix: 'raise it, or set MAX_RUNNING and idle_timeout so that containers stop before: kubectl describe resourcequota',
})
