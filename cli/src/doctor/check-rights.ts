import type { CheckContext, Finding } from './check.ts'
import { clusterOf } from './cluster-of.ts'

/** Whether the account of Berth may do what Berth needs in the namespace of its containers, and no more. */
export async function checkRights(context: CheckContext): Promise<Finding[]> {
  const { lacking, spare } = await clusterOf(context).rights()
  return [...(lacking.length === 0 ? [] : [lacks(lacking)]), ...(spare.length === 0 ? [] : [mayTooMuch(spare)])]
}

const lacks = (rights: readonly string[]): Finding => ({
  level: 'critical',
  what: `The account of Berth may not ${rights.join(', ')} in the namespace of the containers: launches, stops or logs fail.`,
  fix: 'kubectl apply -f deploy/kubernetes/role.yaml, of this version; and see KUBERNETES_NAMESPACE',
})

const mayTooMuch = (rights: readonly string[]): Finding => ({
  level: 'warning',
  what: `The account of Berth may also ${rights.join(', ')}, which Berth never does: who takes it over gets all of that.`,
  fix: 'give Berth an account of its own with the role of deploy/kubernetes/role.yaml alone',
})
