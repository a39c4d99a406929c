import { createHash } from 'node:crypto'
import { registryOf } from '#/runtime/image-registry.ts'
import type { RegistryCredentials } from '#/runtime/runtime.ts'
import { callTimeouts } from '../client/cluster-client.ts'
import { isMissing, statusOf } from '../client/cluster-errors.ts'
import { corePath, type ClusterContext } from '../cluster-context.ts'
import { installationLabels } from '../object-labels.ts'

/**
 * Stores an account at the registry of an image as a Secret, which kubelets read when they pull: one for each account, written
 * anew at each creation, because its password may have changed. It is there before the pod, and so is not owned by one: a kubelet that
 * does not find it yet would wait ten seconds before its next attempt.
 * @returns its name @throws {RuntimeError}
 */
export async function putPullSecret(
  cluster: ClusterContext,
  image: string,
  { username, password }: RegistryCredentials,
  signal?: AbortSignal,
): Promise<string> {
  const registry = registryOf(image)
  const account = createHash('sha256').update(`${registry}\0${username}`).digest('hex').slice(0, 12)
  const name = `${cluster.installation}-registry-${account}`
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: installationLabels(cluster.installation) },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths: { [registry]: { username, password, auth } } }) },
  }
  const call = { what: 'store the account of a registry', body, timeout: callTimeouts.write, signal } as const
  const replace = () => cluster.client.ask({ ...call, method: 'PUT', path: corePath(cluster, 'secrets', name) })
  try {
    await replace()
  } catch (error) {
    if (!isMissing(error)) throw error
    await cluster.client.ask({ ...call, method: 'POST', path: corePath(cluster, 'secrets') }).catch((late: unknown) => {
      // Another launch has made it meanwhile.
      if (statusOf(late) !== 409) throw late
      return replace()
    })
  }
  return name
}
