import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { registryOf } from '#/engines/container-spec.ts'
import type { RegistryCredentials } from '#/engines/runtime.ts'
import type { ObjectMeta, Pod } from './api-objects.ts'
import {
  callTimeouts,
  corePath,
  createObject,
  isForbidden,
  isMissing,
  reasonOf,
  statusOf,
  type ClusterNamespace,
} from './cluster-client.ts'
import { installationLabels } from './labels.ts'
import type { PodIndex } from './pod-index.ts'

/** Who an object belongs to: the cluster removes it when all of these are gone. */
export interface OwnerReference {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod' | 'Secret'
  readonly name: string
  readonly uid: string
}

/** A pod that never was: what it owns is removed by the cluster at once. This account may not delete Secrets. */
const absentOwner: OwnerReference = {
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'absent',
  uid: '00000000-0000-4000-8000-000000000000',
}

/** How long the removal of the anchor of an earlier process is waited for, and the pause between two looks, in ms. */
const [collectionTime, collectionPause] = [60_000, 250]

/**
 * An empty Secret that owns the environments of pods that are not there yet. Each process makes it anew: the cluster
 * removes the one before, and with it whatever a crash left between an environment and its pod.
 */
export class SecretAnchor {
  #owner: OwnerReference | undefined
  #isMaking = false
  #isRefused = false

  /**
   * The owner of an environment that comes before its pod; undefined where there is none, or not yet: a call makes one,
   * in the background.
   */
  owner(cluster: ClusterNamespace): OwnerReference | undefined {
    if (!this.#owner && !this.#isRefused && !this.#isMaking) void this.#makeInBackground(cluster)
    return this.#owner
  }

  /** Something else has removed this one. */
  lost({ uid }: OwnerReference): void {
    if (this.#owner?.uid === uid) this.#owner = undefined
  }

  /**
   * A pod has waited in vain for its environment, which may have gone with an anchor that something else removed: the
   * collector removes what it saw without an owner, although the owner has changed since. The next creation does
   * without.
   */
  forget(): void {
    this.#owner = undefined
  }

  /**
   * The cluster lets an account change owners only with the right to delete (OpenShift): there is no owner any more.
   */
  refuse(): void {
    this.#isRefused = true
    this.#owner = undefined
  }

  /** What fails is tried again by the next call of `owner`. */
  async #makeInBackground(cluster: ClusterNamespace): Promise<void> {
    this.#isMaking = true
    try {
      await this.#make(cluster)
    } catch (error) {
      // A quota of Secrets answers 403, too: the next call tries again.
      if (isForbidden(error)) this.refuse()
    } finally {
      this.#isMaking = false
    }
  }

  /** The first creation makes sure that there is one whose removal shows that owners may be changed. */
  async #make(cluster: ClusterNamespace): Promise<void> {
    const name = `${cluster.installation}-environments`
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, labels: installationLabels(cluster.installation) },
    }
    const what = 'create the owner of environments'
    const call = { what, method: 'POST', path: corePath(cluster, 'secrets'), timeout: callTimeouts.write } as const
    const create = () => cluster.client.ask<{ metadata: ObjectMeta }>({ ...call, body }).catch(unlessItExists)
    await create()
    await giveAway(cluster, body).catch(unlessMissing)
    for (const end = performance.now() + collectionTime; performance.now() < end; await pauseUnreferenced()) {
      const made = await create()
      if (made) return void (this.#owner = { apiVersion: 'v1', kind: 'Secret', name, uid: made.metadata.uid })
    }
  }
}

/** A Secret as it is written. */
export interface SecretManifest {
  readonly metadata: { readonly name: string }
}

/**
 * Changes the owner of a Secret. @param owner left out: one that does not exist, so that the cluster removes the Secret
 * @throws {RuntimeError} `missing` when there is no such Secret
 */
export async function giveAway(
  cluster: ClusterNamespace,
  secret: SecretManifest,
  owner: OwnerReference = absentOwner,
): Promise<void> {
  const { name } = secret.metadata
  const body = { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } }
  const path = corePath(cluster, 'secrets', name)
  await cluster.client.ask({ what: `own ${name}`, method: 'PUT', path, body, timeout: callTimeouts.write })
}

/** Creates the Secret of an environment. @throws {RuntimeError} also when there is one of this name */
export async function storeEnvironment(
  cluster: ClusterNamespace,
  secret: SecretManifest,
  owner: OwnerReference,
  signal?: AbortSignal,
): Promise<void> {
  const { name } = secret.metadata
  const body = { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } }
  const call = { what: `create the environment ${name}`, path: corePath(cluster, 'secrets'), body, signal }
  await createObject(cluster.client, { ...call, timeout: callTimeouts.write })
}

export const ownerReferenceTo = ({ name, uid }: ObjectMeta): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Pod',
  name,
  uid,
})

/** Pods whose start was never waited for keep no more than this. */
const maxEnvironments = 1_000

/** The environments of pods that this process has created, and that have not begun yet, by their uids. */
export class UnstartedEnvironments {
  readonly #secrets = new Map<string, SecretManifest>()

  keep({ uid }: ObjectMeta, secret: SecretManifest): void {
    const [oldest] = this.#secrets.size < maxEnvironments ? [] : this.#secrets.keys()
    if (oldest !== undefined) this.#secrets.delete(oldest)
    this.#secrets.set(uid, secret)
  }

  drop(uid: string): void {
    this.#secrets.delete(uid)
  }

  /**
   * Stores an environment again that the kubelet of its pod does not find: a garbage collector that read it while the
   * anchor owned it removes it with the anchor, although the pod owns it since. The kubelet asks again some ten seconds
   * later. What fails is tried by the next call.
   * @returns whether it was gone
   */
  async restore(cluster: ClusterNamespace, pod: ObjectMeta): Promise<boolean> {
    const secret = this.#secrets.get(pod.uid)
    if (!secret) return false
    try {
      await storeEnvironment(cluster, secret, ownerReferenceTo(pod))
      this.drop(pod.uid)
      return true
    } catch (error) {
      // It came after its pod, and the kubelet has not asked again yet.
      if (statusOf(error) === 409) this.drop(pod.uid)
      return false
    }
  }
}

function unlessItExists(error: unknown): undefined {
  if (statusOf(error) !== 409) throw error
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}

/** Keeps no process from ending. */
const pauseUnreferenced = () => sleep(collectionPause, undefined, { ref: false })

/** Pods that own a Secret, the newest: an image that has been pulled needs it no more. */
const maxOwners = 100

/** Who needs the Secret of an account. */
export interface PullSecretUse {
  /** Creations of pods that are under way. */
  creations: number
  /** Pods that were created with it; the newest last. */
  pods: readonly ObjectMeta[]
}

/** The namespace, which pods it has, and the accounts at registries by the names of their Secrets. */
interface PullSecretContext extends ClusterNamespace {
  readonly index: PodIndex
  readonly pullSecrets: Map<string, PullSecretUse>
}

/**
 * Creates a pod with an account at the registry of its image as a Secret, which kubelets read when they pull: one for
 * each account, written anew at each creation, because its password may have changed. It is there before the pod: a
 * kubelet that does not find it yet would wait ten seconds before its next attempt. Afterwards it is owned by its pods,
 * so that the cluster removes it with the last of them: this account may neither list nor delete Secrets.
 * @param create gets the Secret's name; undefined without credentials
 * @throws {RuntimeError} · whatever `create` throws
 */
export async function withPullSecret(
  cluster: PullSecretContext,
  image: string,
  credentials: (() => RegistryCredentials) | undefined,
  create: (secret: string | undefined) => Promise<Pod>,
  signal?: AbortSignal,
): Promise<Pod> {
  if (!credentials) return create(undefined)
  const secret = secretOf(cluster, image, credentials())
  const use = useOf(cluster, secret.name)
  use.creations++
  try {
    await storePullSecret(cluster, secret, [], signal)
    const pod = await create(secret.name)
    use.pods = [...use.pods.filter(({ uid }) => cluster.index.nameOf(uid) !== undefined), pod.metadata].slice(
      -maxOwners,
    )
    return pod
  } finally {
    use.creations--
    // While another pod is being created, the end of all owners must not remove it. A cluster that refuses owners keeps
    // it, as all of an account that no pod was created with.
    if (use.creations === 0 && use.pods.length > 0)
      void storePullSecret(cluster, secret, use.pods).catch(() => undefined)
  }
}

interface PullSecret {
  readonly name: string
  readonly config: string
}

function secretOf(
  { installation }: ClusterNamespace,
  image: string,
  { username, password }: RegistryCredentials,
): PullSecret {
  const registry = registryOf(image)
  const account = createHash('sha256').update(`${registry}\0${username}`).digest('hex').slice(0, 12)
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  return {
    name: `${installation}-registry-${account}`,
    config: JSON.stringify({ auths: { [registry]: { username, password, auth } } }),
  }
}

function useOf({ pullSecrets }: PullSecretContext, name: string): PullSecretUse {
  const use = pullSecrets.get(name) ?? { creations: 0, pods: [] }
  pullSecrets.set(name, use)
  return use
}

async function storePullSecret(
  cluster: ClusterNamespace,
  { name, config }: PullSecret,
  owners: readonly ObjectMeta[],
  signal?: AbortSignal,
): Promise<void> {
  const ownerReferences = owners.map((pod) => ({ apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid }))
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: installationLabels(cluster.installation), ownerReferences },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': config },
  }
  const call = { what: 'store the account of a registry', body, timeout: callTimeouts.write, signal } as const
  const replace = () => cluster.client.ask({ ...call, method: 'PUT', path: corePath(cluster, 'secrets', name) })
  try {
    await replace()
  } catch (error) {
    if (!isMissing(error)) throw error
    await createObject(cluster.client, { ...call, path: corePath(cluster, 'secrets') }).catch((late: unknown) => {
      // Another launch has made it meanwhile.
      if (reasonOf(late) !== 'AlreadyExists') throw late
      return replace()
    })
  }
}
