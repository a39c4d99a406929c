import type { CheckContext, Finding } from './check.ts'
import { clusterOf } from './cluster-of.ts'

/** Ends of the fixes of versions 1.x, from the calendar of releases of the Kubernetes project; those before have ended, too. */
const endsOfFixes: ReadonlyMap<number, string> = new Map([
  [30, '2025-06-28'],
  [31, '2025-10-28'],
  [32, '2026-02-28'],
  [33, '2026-06-28'],
  [34, '2026-10-27'],
])

/** Whether the API server answers, and its version still gets fixes. */
export async function checkCluster(context: CheckContext): Promise<Finding[]> {
  try {
    const { version } = await clusterOf(context).report()
    const end = endOf(version)
    return end !== undefined && context.now.getTime() > Date.parse(end) ? [withoutFixes(version, end)] : []
  } catch (error) {
    return [notAnswering(error as Error)]
  }
}

/** Undefined for a version that is newer than this table. */
function endOf(version: string): string | undefined {
  const minor = Number(/^1\.(\d+)/.exec(version)?.[1])
  const [first = 0] = endsOfFixes.keys()
  return minor < first ? endsOfFixes.get(first) : endsOfFixes.get(minor)
}

const notAnswering = ({ message, cause }: Error): Finding => ({
  level: 'critical',
  what: `The cluster does not answer (${cause instanceof Error ? `${message}: ${cause.message}` : message}): no container can be started, stopped or reached.`,
  fix: 'kubectl --kubeconfig "$KUBECONFIG" get --raw /livez; and set KUBECONFIG and KUBERNETES_NAMESPACE as for the service',
})

const withoutFixes = (version: string, end: string): Finding => ({
  level: 'warning',
  what: `Kubernetes ${version} gets no fixes of security since ${end} from its project: a hostile container may leave its node.`,
  fix: 'upgrade the cluster, or ask its vendor until when this version is mended; Berth uses only APIs that newer versions have',
})
