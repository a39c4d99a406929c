import type { ClusterInspection, QuotaUse } from '@berth/server/engines/engine-inspection.ts'
import type { CheckContext, Finding } from './check.ts'

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

/** Whether the account of Berth may do what Berth needs in the namespace of its containers, and no more. */
export async function checkRights(context: CheckContext): Promise<Finding[]> {
  const { lacking, spare } = await clusterOf(context).rights()
  return [...(lacking.length === 0 ? [] : [lacks(lacking)]), ...(spare.length === 0 ? [] : [mayTooMuch(spare)])]
}

const lacks = (rights: readonly string[]): Finding => ({
  level: 'critical',
  what: `The account of Berth may not ${rights.join(', ')} in the namespace of the containers: launches, stops or logs fail.`,
  fix: 'kubectl apply -f deploy/kubernetes/role.yaml, of this version; and see KUBERNETES_NAMESPACE',
})

const mayTooMuch = (rights: readonly string[]): Finding => ({
  level: 'warning',
  what: `The account of Berth may also ${rights.join(', ')}, which Berth never does: who takes it over gets all of that.`,
  fix: 'give Berth an account of its own with the role of deploy/kubernetes/role.yaml alone',
})

/** Names that a finding lists. */
const maxNames = 5

/** Whether homes get volumes: the storage classes are there, and no home waits for its volume. */
export async function checkStorage(context: CheckContext): Promise<Finding[]> {
  const cluster = clusterOf(context)
  const [classes, unbound] = await Promise.all([cluster.storageClasses(), cluster.unboundHomes(context.now)])
  const { kubernetes } = context.config
  const templates = context.config.templates.all()
  const own = kubernetes?.storageClass ?? null
  const named = new Set(templates.flatMap((each) => each.kubernetes?.storageClass ?? []).concat(own ?? []))
  const lacking = classes ? [...named].filter((name) => !classes.names.includes(name)) : []
  const needsDefault =
    own === null && templates.some(({ home, kubernetes: its }) => home !== null && !its?.storageClass)
  return [
    ...lacking.map(isMissing),
    ...(classes && classes.default === null && needsDefault ? [withoutDefault] : []),
    ...(unbound.length === 0 ? [] : [waiting(unbound)]),
  ]
}

const isMissing = (name: string): Finding => ({
  level: 'critical',
  what: `The cluster has no storage class ${name}: homes of it wait for a volume for ever, and their launches fail.`,
  fix: 'kubectl get storageclasses; and correct KUBERNETES_STORAGE_CLASS or the storage_class of the template',
})

const withoutDefault: Finding = {
  level: 'critical',
  what: 'The cluster has no default storage class, and KUBERNETES_STORAGE_CLASS is not set: homes wait for a volume for ever.',
  fix: 'set KUBERNETES_STORAGE_CLASS to one of: kubectl get storageclasses',
}

const waiting = (homes: readonly string[]): Finding => ({
  level: 'warning',
  what: `${homes.length} homes have waited for a volume for more than five minutes: ${homes.slice(0, maxNames).join(', ')}${homes.length > maxNames ? ', …' : ''}.`,
  fix: 'kubectl describe persistentvolumeclaims in the namespace of the containers says what they wait for',
})

const [set, notSet] = ['set', 'not set: ']

/** Whether NetworkPolicies keep containers apart: the running service has tried it at its start. */
export async function checkPolicies({ service }: CheckContext): Promise<Finding[]> {
  if (service === null || typeof service === 'string')
    throw new Error('a running Berth tries at its start whether NetworkPolicies are enforced; none answers')
  const { rules } = service.host
  if (rules === set) return []
  if (!rules.startsWith(notSet)) throw new Error('the trial of this start has no result so far; the log says why')
  return [
    {
      level: 'critical',
      what: `NetworkPolicies do not keep containers from each other, from the API of the cluster and from metadata: ${rules.slice(notSet.length)}.`,
      fix: 'kubectl apply -f deploy/kubernetes/network-policies.yaml; and use a network plugin that enforces policies, such as Calico or Cilium; then restart Berth',
    },
  ]
}

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

/** The cluster that checks look at. @throws {Error} without one: these checks are for ENGINE=kubernetes */
function clusterOf({ cluster }: CheckContext): ClusterInspection {
  if (!cluster) throw new Error('ENGINE is not kubernetes')
  return cluster
}
