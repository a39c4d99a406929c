import type { CheckContext } from './check.ts'
import type { ClusterInspection } from '@berth/server/engines/engine-inspection.ts'

/** The cluster that checks look at. @throws {Error} without one: these checks are for ENGINE=kubernetes */
export function clusterOf({ cluster }: CheckContext): ClusterInspection {
  if (!cluster) throw new Error('ENGINE is not kubernetes')
  return cluster
}
