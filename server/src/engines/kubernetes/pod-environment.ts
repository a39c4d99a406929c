import { randomBytes } from 'node:crypto'
import { readWithRetries } from '#/engines/runtime-error.ts'
import type { ObjectMeta, Pod } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { isForbidden, isMissing } from './cluster-errors.ts'
import { createObject } from './create-object.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { installationLabels } from './object-labels.ts'
import { deletePod } from './delete-pods.ts'
import { giveAway, type OwnerReference, type SecretManifest } from './secret-anchor.ts'

/** A pod that is to be created. */
export interface PodWithEnvironment {
  readonly pod: string
  readonly env: Readonly<Record<string, string>>
  /** Gets the name of the Secret with the environment. */
  readonly create: (secret: string) => Promise<Pod>
}

/**
 * Creates a pod and its environment, a Secret of this run that the pod owns in the end, so that the cluster removes both. The Secret
 * comes first: a kubelet that asks for it too early waits some ten seconds before it asks again. Until there is a pod that can own it
 * the anchor does; without an anchor it comes after its pod.
 * @param signal of the caller; what makes the Secret the pod's is not cut short by it
 * @throws {RuntimeError} · whatever `create` throws; then neither stays, or the next start of Berth has the rest removed
 */
export async function withEnvironment(
  cluster: ClusterContext,
  { pod, env, create }: PodWithEnvironment,
  signal?: AbortSignal,
): Promise<Pod> {
  const secret = environment(cluster, pod, env)
  const anchor = cluster.anchor.owner(cluster)
  if (!anchor) {
    const made = await create(secret.metadata.name)
    await makeAfter(cluster, secret, made.metadata)
    return made
  }
  const made = await createBefore(cluster, secret, anchor, create, signal)
  await handOver(cluster, secret, anchor, made.metadata)
  return made
}

function environment(cluster: ClusterContext, pod: string, env: Readonly<Record<string, string>>) {
  const name = `${pod.slice(0, 50)}-${randomBytes(4).toString('hex')}`
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: installationLabels(cluster.installation) },
    immutable: true,
    stringData: env,
  }
}

/** A failure may be one of the answer alone, so the Secret is given away after each. */
async function createBefore(
  cluster: ClusterContext,
  secret: SecretManifest,
  anchor: OwnerReference,
  create: (secret: string) => Promise<Pod>,
  signal?: AbortSignal,
): Promise<Pod> {
  try {
    await store(cluster, secret, anchor, signal)
    return await create(secret.metadata.name)
  } catch (error) {
    void giveAway(cluster, secret).catch(() => undefined)
    throw error
  }
}

/** What the cluster does not take now stays the anchor's: the pod starts all the same. */
async function handOver(
  cluster: ClusterContext,
  secret: SecretManifest,
  anchor: OwnerReference,
  pod: ObjectMeta,
): Promise<void> {
  try {
    await readWithRetries(() => giveAway(cluster, secret, ownerOf(pod)))
  } catch (error) {
    if (isForbidden(error)) cluster.anchor.refuse()
    if (!isMissing(error)) return
    // It went with the anchor, which another process or an operator removed.
    cluster.anchor.lost(anchor)
    await makeAfter(cluster, secret, pod)
  }
}

/**
 * Not cut short by the caller's signal: without its Secret the pod would never start. After a failure the pod is deleted; if
 * that fails, too, the next launch finds it by its name, and gives it up.
 */
async function makeAfter(cluster: ClusterContext, secret: SecretManifest, pod: ObjectMeta): Promise<void> {
  try {
    await store(cluster, secret, ownerOf(pod))
  } catch (error) {
    await deletePod(cluster, pod, 1).catch(() => undefined)
    throw error
  }
}

async function store(
  cluster: ClusterContext,
  secret: SecretManifest,
  owner: OwnerReference,
  signal?: AbortSignal,
): Promise<void> {
  const { name } = secret.metadata
  const body = { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } }
  const call = { what: `create the environment ${name}`, path: corePath(cluster, 'secrets'), body, signal }
  await createObject(cluster.client, { ...call, timeout: callTimeouts.write })
}

const ownerOf = ({ name, uid }: ObjectMeta): OwnerReference => ({ apiVersion: 'v1', kind: 'Pod', name, uid })
