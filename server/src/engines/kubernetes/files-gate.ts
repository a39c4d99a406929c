import type { V1Container, V1Volume } from '@kubernetes/client-node'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ContainerStatus, Pod } from './api-objects.ts'
import type { ClusterContext } from './cluster-context.ts'
import { outputOf } from './exec-in-pod.ts'
import { helperContainer, waitingScript } from './helper-container.ts'

/** Name of the container that keeps the app from starting until its files are in the home. */
export const gateName = 'files'
const folder = '/berth-gate'
/** Seconds without a command after which the pod gives up: Berth ended between creation and start. */
const idle = 600
/** ms */
const openTimeout = 15_000

/** An init container of the helper image with the home, which ends once it is opened; and the folder that opens it. */
export function filesGate(image: string, home: string): { container: V1Container; volume: V1Volume } {
  const mounts = [
    { name: 'home', mountPath: home },
    { name: 'gate', mountPath: folder },
  ]
  return {
    container: helperContainer(gateName, image, waitingScript(`[ -e ${folder}/open ]`, idle), mounts),
    volume: { name: 'gate', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  }
}

/** Status of the gate of a pod; undefined when it has none, or none is known yet. */
export const gateOf = ({ status }: Pod): ContainerStatus | undefined => status?.initContainerStatuses?.[0]

/**
 * Lets the app of a pod start, if a gate that runs keeps it from that.
 * @param isOurs whether this process created it for this start, and so has put its files @returns whether it is open now
 * @throws {RuntimeError} `failed` for one of another process: its files may be missing
 */
export async function openGate(
  cluster: ClusterContext,
  pod: Pod,
  isOurs: boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!gateOf(pod)?.state?.running) return false
  if (!isOurs) throw new RuntimeError('failed', `start ${pod.metadata.name}: its starter files may be missing`)
  const limit = AbortSignal.timeout(openTimeout)
  await outputOf(cluster, {
    what: `start ${pod.metadata.name}`,
    pod: pod.metadata.name,
    container: gateName,
    command: ['touch', `${folder}/open`],
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  return true
}
