import type { CheckContext, Finding } from './check.ts'
import { clusterOf } from './cluster-of.ts'

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
