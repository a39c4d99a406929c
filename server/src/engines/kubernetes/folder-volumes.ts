import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Claim } from './api-objects.ts'
import { callTimeouts, corePath, createObject, isMissing, reasonOf } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { listPods } from './container-lookup.ts'
import { defaultHomeSize } from './home-volumes.ts'
import { folderLabels, isOfInstallation, nameAnnotation, objectName } from './labels.ts'

/**
 * Makes sure of a claim that pods of several people have, at the same time and on several nodes: its storage class has to
 * offer `ReadWriteMany`. Programs of any account write to it by the group of the pods.
 * @throws {RuntimeError} `conflict` when it belongs to another installation
 */
export async function ensureFolder(cluster: ClusterContext, volume: string): Promise<void> {
  const what = `make the folder ${volume}`
  const name = objectName(volume)
  if (name === undefined) throw new RuntimeError('failed', `${what}: the cluster accepts no such name`)
  const found = await readClaim(cluster, name)
  if (found) {
    if (isOfInstallation(found.metadata, cluster.installation)) return
    throw new RuntimeError('conflict', `${what}: a claim of this name is not of this installation`)
  }
  const body = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, labels: folderLabels(cluster.installation), annotations: nameAnnotation(volume) },
    spec: {
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: String(defaultHomeSize) } },
      ...(cluster.storageClass === null ? {} : { storageClassName: cluster.storageClass }),
    },
  }
  const path = corePath(cluster, 'persistentvolumeclaims')
  await createObject<Claim>(cluster.client, { what, path, body, timeout: callTimeouts.write }).catch(
    (error: unknown) => {
      if (reasonOf(error) !== 'AlreadyExists') throw error
    },
  )
}

/** Nothing to do when it is gone or another installation's. @throws {RuntimeError} `conflict` when a pod has it */
export async function removeFolder(cluster: ClusterContext, volume: string): Promise<void> {
  const name = objectName(volume)
  const found = name === undefined ? undefined : await readClaim(cluster, name)
  if (name === undefined || !found || !isOfInstallation(found.metadata, cluster.installation)) return
  const isUsed = (await listPods(cluster)).some(({ spec }) =>
    spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
  )
  const what = `remove ${volume}`
  if (isUsed) throw new RuntimeError('conflict', `${what}: a pod has it`)
  const path = corePath(cluster, 'persistentvolumeclaims', name)
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: found.metadata.uid } }
  try {
    await cluster.client.ask({ what, method: 'DELETE', path, body, timeout: callTimeouts.write })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

async function readClaim(cluster: ClusterContext, name: string): Promise<Claim | undefined> {
  const path = corePath(cluster, 'persistentvolumeclaims', name)
  try {
    return await cluster.client.ask<Claim>({
      what: `inspect ${name}`,
      method: 'GET',
      path,
      timeout: callTimeouts.read,
    })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
