import type { CheckContext, Finding } from './check.ts'

const [set, notSet] = ['set', 'not set: ']

/** Whether NetworkPolicies keep containers apart: the running service has tried it at its start. */
export async function checkPolicies({ service }: CheckContext): Promise<Finding[]> {
  if (service === null || typeof service === 'string')
    throw new Error('a running Berth tries at its start whether NetworkPolicies are enforced; none answers')
  const { rules } = service.host
  if (rules === set) return []
  if (!rules.startsWith(notSet)) throw new Error('the trial of this start has no result so far; the log says why')
  return [
    {
      level: 'critical',
      what: `NetworkPolicies do not keep containers from each other, from the API of the cluster and from metadata: ${rules.slice(notSet.length)}.`,
      fix: 'kubectl apply -f deploy/kubernetes/network-policies.yaml; and use a network plugin that enforces policies, such as Calico or Cilium; then restart Berth',
    },
  ]
}
