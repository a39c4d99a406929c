import { createKubernetesRuntime } from '#/engines/kubernetes/kubernetes-runtime.ts'
import { newInstallation } from '../engine/engine.ts'
import { containersOf, type RuntimeRig } from '../engine/runtimes.ts'
import { askCluster, clusterImage, kubeconfig, makeNamespace } from './cluster-api.ts'
import { applyPolicies, isolates } from './policies.ts'

/** The cluster as a runtime, in a namespace of its own. */
export async function openCluster(): Promise<RuntimeRig> {
  const installation = newInstallation()
  const namespace = installation
  const removeNamespace = await makeNamespace(namespace)
  if (isolates) await applyPolicies(namespace)
  const options = { kubeconfig, namespace, storageClass: null, timeouts: { scheduling: 5_000, retries: 5_000 } }
  const open = (name: string) => createKubernetesRuntime({ ...options, installation: name })
  const [runtime, neighbour, image] = await Promise.all([
    open(installation),
    open(`${installation}-other`),
    clusterImage(),
  ])
  await Promise.all([runtime.prepare(), neighbour.prepare()])
  const named = async (id: string) => {
    const pods = await askCluster<{ items: { metadata: { name: string; uid: string } }[] }>(
      'GET',
      `/api/v1/namespaces/${namespace}/pods`,
    )
    return pods.items.find(({ metadata }) => metadata.uid === id)?.metadata.name ?? ''
  }
  return {
    name: 'Kubernetes',
    runtime,
    neighbour,
    installation,
    ...containersOf(runtime, installation, image),
    pause: async () => undefined,
    stopFromOutside: async (id) => {
      await askCluster('DELETE', `/api/v1/namespaces/${namespace}/pods/${await named(id)}?gracePeriodSeconds=1`)
    },
    seesOthers: true,
    isolates,
    precision: 1_000,
    close: removeNamespace,
  }
}
