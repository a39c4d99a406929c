import { askCluster } from './cluster-api.ts'
import { apply } from './deployment.ts'
import { manifestsIn, type Manifest } from './manifests.ts'

interface Policy extends Manifest {
  readonly spec: { readonly podSelector: object; readonly policyTypes: string[]; readonly ingress?: readonly object[] }
}

/** Of a Berth outside of the cluster, on this machine, as pods see it; by itself that of the own cluster. */
const thisMachine = { ipBlock: { cidr: `${process.env.BERTH_TEST_ADDRESS ?? '10.250.255.1'}/32` } }

/** Whether the network of the cluster enforces NetworkPolicies, by the word of the one who runs the tests. */
export const isolates = process.env.BERTH_TEST_ISOLATES === 'yes'

/**
 * Applies the policies of deploy/kubernetes to a namespace, which let in Berth on this machine in place of its pods.
 * @param names of policies; none: all of them
 */
export async function applyPolicies(namespace: string, ...names: readonly string[]): Promise<void> {
  for (const policy of manifestsIn('network-policies.yaml') as Policy[]) {
    const { metadata, spec } = policy
    if (names.length > 0 && !names.includes(metadata.name)) continue
    const ingress = spec.ingress && [{ from: [thisMachine] }]
    await apply({
      ...policy,
      metadata: { ...metadata, namespace },
      spec: { ...spec, ...(ingress && { ingress }) },
    } as Policy)
  }
}

interface Labelled {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
}

/** Gives a namespace the label with its name, which clusters before Kubernetes 1.21 do not set. */
export async function labelNamespace(name: string): Promise<void> {
  const namespace = await askCluster<Labelled>('GET', `/api/v1/namespaces/${name}`)
  const labels = { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': name }
  await askCluster('PUT', `/api/v1/namespaces/${name}`, {
    ...namespace,
    metadata: { ...namespace.metadata, labels },
  })
}
