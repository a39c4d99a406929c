import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ClusterContext } from './cluster-context.ts'
import { createClaim, readClaim, removeClaim } from './home-volumes.ts'
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
  if (found && !isOfInstallation(found.metadata, cluster.installation))
    throw new RuntimeError('conflict', `${what}: a claim of this name is not of this installation`)
  const [labels, annotations] = [folderLabels(cluster.installation), nameAnnotation(volume)]
  const wanted = { volume, size: null, isShared: true, storageClass: null, labels, annotations }
  if (!found) await createClaim(cluster, name, wanted)
}

/** Nothing to do when it is gone or another installation's. @throws {RuntimeError} `conflict` when a pod has it */
export async function removeFolder(cluster: ClusterContext, volume: string): Promise<void> {
  const name = objectName(volume)
  const found = name === undefined ? undefined : await readClaim(cluster, name)
  if (found && isOfInstallation(found.metadata, cluster.installation)) await removeClaim(cluster, found)
}
