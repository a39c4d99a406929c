import type { Disruption, RuntimeContainer } from '#/engines/runtime.ts'
import { toInstant } from '#/engines/transport/json-stream.ts'
import type { ContainerEnd, ContainerStatus, Pod } from './api-objects.ts'
import { fingerprintOf, nameOf, ownerOf, portOf, templateVersionOf } from './labels.ts'

/** Name of a person's container in its pod. */
export const appContainer = 'app'

/** Word of the port for the state of a pod. */
export type PodState = 'created' | 'running' | 'removing' | 'exited'

/** The one container that every pod of ours has. */
export const containerOf = ({ status }: Pod): ContainerStatus | undefined => status?.containerStatuses?.[0]

export const endOf = (pod: Pod): ContainerEnd | undefined => containerOf(pod)?.state?.terminated

/** A pod whose deletion has begun is no container to use any more, although its program may take its time to end. */
export function stateOf(pod: Pod): PodState {
  const { phase, podIP } = pod.status ?? {}
  if (pod.metadata.deletionTimestamp !== undefined) return 'removing'
  if (phase === 'Succeeded' || phase === 'Failed' || endOf(pod)) return 'exited'
  return containerOf(pod)?.state?.running && podIP ? 'running' : 'created'
}

/**
 * How long after the end of its grace a pod that is deleted counts as one whose node does not confirm its end, in ms.
 * Nodes take 4 to 6 s.
 */
export const confirmation = 45_000

/** Whether its deletion should have been confirmed by its node long ago. */
export const isOverdue = ({ metadata }: Pod, now = Date.now()): boolean =>
  metadata.deletionTimestamp !== undefined && now > Date.parse(metadata.deletionTimestamp) + confirmation

/** Reasons of pods that the cluster ended as a whole; their programs did nothing wrong. */
const evictions = new Set(['Evicted', 'Preempting', 'NodeShutdown', 'Shutdown', 'Terminated', 'NodeLost'])

/** Newer clusters say so by a condition, whatever they call the reason. */
function disruptionOf(pod: Pod): Disruption | undefined {
  if (stateOf(pod) === 'removing') return isOverdue(pod) ? 'node-lost' : undefined
  const { phase, reason = '', conditions = [] } = pod.status ?? {}
  if (phase !== 'Failed') return undefined
  const isTarget = conditions.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True')
  return isTarget || evictions.has(reason) ? 'evicted' : undefined
}

/** Kubelets say "Pod ephemeral local storage usage exceeds", or "exceeded its local ephemeral storage limit". */
const isLayerFull = ({ status }: Pod) =>
  /ephemeral (?:local )?storage (?:usage exceeds|limit)/.test(status?.message ?? '')

export function toContainer(installation: string, pod: Pod): RuntimeContainer {
  const { metadata, status } = pod
  const owner = ownerOf(metadata, installation)
  const [state, end, container] = [stateOf(pod), endOf(pod), containerOf(pod)]
  const disruption = disruptionOf(pod)
  return {
    id: metadata.uid,
    name: nameOf(metadata),
    owner,
    state,
    address: state === 'running' ? (status?.podIP ?? null) : null,
    port: owner && portOf(metadata),
    imageId: container?.imageID ?? '',
    exitCode: end?.exitCode ?? null,
    isOutOfMemory: end?.reason === 'OOMKilled',
    ...(disruption && { disruption }),
    ...(disruption === 'evicted' && isLayerFull(pod) && { isLayerFull: true }),
    startedAt: toInstant(container?.state?.running?.startedAt ?? end?.startedAt),
    endedAt: toInstant(end?.finishedAt),
    fingerprint: owner && fingerprintOf(metadata),
    templateVersion: owner ? templateVersionOf(metadata) : undefined,
  }
}

/** What a list promises: no more than the list of any engine has. */
export const toListed = (container: RuntimeContainer): RuntimeContainer => ({
  ...container,
  isOutOfMemory: false,
  startedAt: null,
  endedAt: null,
})
