import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Pod } from './api-objects.ts'
import type { ClusterTimeouts } from './cluster-context.ts'
import { containerOf } from './pod-state.ts'

/** Reasons for which a container cannot start, however often the cluster tries. */
const hopeless = new Set(['InvalidImageName', 'ErrImageNeverPull'])
/** Reasons for which it may not start: the cluster tries again. */
const failing = new Map([
  ['ErrImagePull', 'image'],
  ['ImagePullBackOff', 'image'],
  ['RegistryUnavailable', 'image'],
  ['CreateContainerConfigError', 'failed'],
  ['CreateContainerError', 'failed'],
  ['RunContainerError', 'failed'],
] as const)
/**
 * Reasons that a busy node or API server has, too: a kubelet waits a second for the Secret of the pod, and the runtime for two minutes.
 * It tries again after 10 to 15 s, so these may last for several times as long, until several attempts have failed.
 */
const maybeBusy: ReadonlySet<string> = new Set(['CreateContainerConfigError', 'CreateContainerError'])
const attempts = 4

/** What the first container that does not run waits for; one for starter files comes before the app's. */
const waitingOf = (pod: Pod) =>
  pod.status?.initContainerStatuses?.[0]?.state?.waiting ?? containerOf(pod)?.state?.waiting

/** How long a pod waits in each phase of its start. */
export class StartDeadlines {
  readonly #timeouts: ClusterTimeouts
  readonly #begun = performance.now()
  #failingSince: number | undefined

  constructor(timeouts: ClusterTimeouts) {
    this.#timeouts = timeouts
  }

  /** Why it is given up; undefined while waiting makes sense. */
  failureOf(pod: Pod): RuntimeError | undefined {
    return this.#unscheduled(pod) ?? this.#failing(pod) ?? this.#overdue(pod)
  }

  #unscheduled(pod: Pod): RuntimeError | undefined {
    const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    if (scheduled?.status !== 'False' || this.#took() < this.#timeouts.scheduling) return undefined
    return new RuntimeError('full', `start ${pod.metadata.name}: no node has room for it`, new Error(scheduled.message))
  }

  #failing(pod: Pod): RuntimeError | undefined {
    const { reason = '', message = '' } = waitingOf(pod) ?? {}
    const [what, cause] = [`start ${pod.metadata.name}`, new Error(`${reason}: ${message}`.slice(0, 500))]
    if (hopeless.has(reason)) return new RuntimeError('image', what, cause)
    const kind = failing.get(reason as Parameters<typeof failing.get>[0])
    this.#failingSince = kind && (this.#failingSince ?? performance.now())
    const allowed = this.#timeouts.retries * (maybeBusy.has(reason) ? attempts : 1)
    if (!kind || performance.now() - (this.#failingSince ?? 0) < allowed) return undefined
    return new RuntimeError(kind, what, cause)
  }

  #overdue({ metadata }: Pod): RuntimeError | undefined {
    if (this.#took() < this.#timeouts.total) return undefined
    return new RuntimeError('failed', `start ${metadata.name}: it has not begun in ${this.#timeouts.total / 1_000} s`)
  }

  #took(): number {
    return performance.now() - this.#begun
  }
}
