import { createHash } from 'node:crypto'
import { registryOf } from '#/engines/image-registry.ts'
import type { RegistryCredentials } from '#/engines/runtime.ts'
import type { ObjectMeta, Pod } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { isMissing, reasonOf } from './cluster-errors.ts'
import { createObject } from './create-object.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { installationLabels } from './object-labels.ts'

/** Pods that own a Secret, the newest: an image that has been pulled needs it no more. */
const maxOwners = 100

/** Who needs the Secret of an account. */
export interface PullSecretUse {
  /** Creations of pods that are under way. */
  creations: number
  /** Pods that were created with it; the newest last. */
  pods: readonly ObjectMeta[]
}

/**
 * Creates a pod with an account at the registry of its image as a Secret, which kubelets read when they pull: one for each account,
 * written anew at each creation, because its password may have changed. It is there before the pod: a kubelet that does not find it yet
 * would wait ten seconds before its next attempt. Afterwards it is owned by its pods, so that the cluster removes it with the last of
 * them: this account may neither list nor delete Secrets.
 * @param create gets the Secret's name; undefined without credentials @throws {RuntimeError} · whatever `create` throws
 */
export async function withPullSecret(
  cluster: ClusterContext,
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
    await put(cluster, secret, [], signal)
    const pod = await create(secret.name)
    use.pods = [...use.pods.filter(({ uid }) => cluster.index.nameOf(uid) !== undefined), pod.metadata].slice(
      -maxOwners,
    )
    return pod
  } finally {
    use.creations--
    // While another pod is being created, the end of all owners must not remove it. A cluster that refuses owners keeps it, as all
    // of an account that no pod was created with.
    if (use.creations === 0 && use.pods.length > 0) void put(cluster, secret, use.pods).catch(() => undefined)
  }
}

interface PullSecret {
  readonly name: string
  readonly config: string
}

function secretOf(
  { installation }: ClusterContext,
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

function useOf({ pullSecrets }: ClusterContext, name: string): PullSecretUse {
  const use = pullSecrets.get(name) ?? { creations: 0, pods: [] }
  pullSecrets.set(name, use)
  return use
}

async function put(
  cluster: ClusterContext,
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
