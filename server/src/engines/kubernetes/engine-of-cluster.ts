import type { ClusterInspection } from '#/engines/cluster-inspection.ts'
import type { EngineInspection } from '#/engines/engine-inspection.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'

/** What checks of any installation ask an engine: its clock. A cluster has no images, rules or folders on this machine. */
export function engineOfCluster(cluster: ClusterInspection): EngineInspection {
  const refuse = async (): Promise<never> => {
    throw new RuntimeError('failed', 'a cluster is not asked for this')
  }
  return {
    report: async () => {
      const { server, version, time } = await cluster.report()
      const none = { securityOptions: [], rootDir: '', freeNetworks: Number.POSITIVE_INFINITY }
      return { ...none, address: server, versions: { kubernetes: version }, time }
    },
    hostRules: refuse,
    hasImage: refuse,
    isInRegistry: refuse,
  }
}
