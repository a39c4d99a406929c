import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Claim, ClusterEvent, ObjectList, Pod } from './api-objects.ts'
import { callTimeouts, corePath } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'

/**
 * Why a pod does not start, where it waits for a claim that several pods have: a storage class does not say which access
 * modes it offers, and the scheduler only says that a claim is not bound.
 * @returns the failure itself where no such claim is the cause, or the cluster does not tell
 */
export async function withUnprovidedClaim(
  cluster: ClusterContext,
  pod: Pod,
  failure: RuntimeError,
): Promise<RuntimeError> {
  const names = (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? [])
  try {
    for (const name of names) {
      const claim = await read<Claim>(cluster, `inspect ${name}`, 'persistentvolumeclaims', name)
      const { accessModes = [], volumeName, storageClassName } = claim.spec ?? {}
      if (volumeName !== undefined || !accessModes.includes('ReadWriteMany')) continue
      const storageClass =
        storageClassName === undefined ? 'the default storage class' : `storage class ${storageClassName}`
      const problem =
        `start ${pod.metadata.name}: its claim ${name} asks for ReadWriteMany, because several pods have it, and ` +
        `${storageClass} has not provided it: name one that offers ReadWriteMany, by KUBERNETES_STORAGE_CLASS or by ` +
        'storage_class of the template, and remove this claim, which is empty'
      return new RuntimeError('failed', problem, new Error(await provisionerWords(cluster, claim)))
    }
  } catch {
    // The failure as it was tells more than that the cluster could not be asked.
  }
  return failure
}

async function provisionerWords(cluster: ClusterContext, { metadata }: Claim): Promise<string> {
  const query = { fieldSelector: `involvedObject.uid=${metadata.uid}`, limit: '50' }
  const { items } = await read<ObjectList<ClusterEvent>>(cluster, 'list events of a claim', 'events', undefined, query)
  const failed = items.findLast(({ reason }) => reason === 'ProvisioningFailed')
  return failed?.message?.slice(0, 500) ?? 'it is not bound'
}

const read = <T>(
  cluster: ClusterContext,
  what: string,
  kind: 'persistentvolumeclaims' | 'events',
  name?: string,
  query?: Readonly<Record<string, string>>,
): Promise<T> => {
  const path = corePath(cluster, kind, name)
  return cluster.client.ask<T>({ what, method: 'GET', path, timeout: callTimeouts.read, ...(query && { query }) })
}
