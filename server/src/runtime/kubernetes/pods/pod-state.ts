import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { ContainerEnd, ContainerStatus, Pod } from '../client/api-objects.ts'
import { fingerprintOf, nameOf, ownerOf, portOf, templateVersionOf } from '../object-labels.ts'

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

export function toContainer(installation: string, pod: Pod): RuntimeContainer {
  const { metadata, status } = pod
  const owner = ownerOf(metadata, installation)
  const [state, end, container] = [stateOf(pod), endOf(pod), containerOf(pod)]
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

function toInstant(text: string | undefined): number | null {
  const instant = Date.parse(text ?? '')
  return instant > 0 ? instant : null
}
