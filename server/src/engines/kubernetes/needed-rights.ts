/** A resource of the core API, with a subresource such as `pods/log`, and what Berth does with it. */
export interface Rights {
  readonly resource: string
  readonly verbs: readonly string[]
}

/** All that Berth does in the namespace of its containers, as `deploy/kubernetes/role.yaml` has it. */
export const neededRights: readonly Rights[] = [
  { resource: 'pods', verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  { resource: 'pods/log', verbs: ['get'] },
  { resource: 'events', verbs: ['list'] },
  { resource: 'persistentvolumeclaims', verbs: ['get', 'list', 'create', 'delete'] },
  { resource: 'secrets', verbs: ['create', 'update'] },
]

/** With `KUBERNETES_HELPER_IMAGE`, as `deploy/kubernetes/role-of-helpers.yaml` has it: clusters from 1.35 on ask for `create`. */
export const helperRights: readonly Rights[] = [{ resource: 'pods/exec', verbs: ['get', 'create'] }]

/** What Berth never does, and would make a stolen token of its account worth more. */
export const spareRights: readonly Rights[] = [
  { resource: 'secrets', verbs: ['get', 'list'] },
  { resource: 'pods/exec', verbs: ['create'] },
  { resource: 'serviceaccounts/token', verbs: ['create'] },
]
