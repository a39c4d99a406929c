import type { StartWait } from '#/engines/runtime-container.ts'
import type { ClusterEvent, ObjectList, Pod } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'

/** Interval of questions for events of one pod, and the time before the first, in ms: most pods run by then. */
const [interval, firstDelay] = [3_000, 1_500]

/** What the newest of these events says that a pod waits for. */
const waits: ReadonlyMap<string, StartWait> = new Map([
  ['FailedAttachVolume', 'volume'],
  ['FailedMount', 'volume'],
  ['Pulling', 'image'],
  ['Pulled', 'none'],
] as const)

/** Reports what the start of one pod waits for: from its condition, and from the cluster's events while it is on a node. */
export class WaitReporter {
  readonly #cluster: ClusterContext
  readonly #onWait: (wait: StartWait) => void
  #reported: StartWait = 'none'
  #askAt = performance.now() + firstDelay

  constructor(cluster: ClusterContext, onWait: (wait: StartWait) => void) {
    this.#cluster = cluster
    this.#onWait = onWait
  }

  /** Never throws: events are for people to read. */
  async report(pod: Pod): Promise<void> {
    const wait = isUnscheduled(pod) ? 'node' : await this.#waitOf(pod)
    if (wait === undefined || wait === this.#reported) return
    this.#reported = wait
    this.#onWait(wait)
  }

  /** @returns undefined when it is not known */
  async #waitOf({ metadata }: Pod): Promise<StartWait | undefined> {
    if (performance.now() < this.#askAt) return undefined
    this.#askAt = performance.now() + interval
    try {
      const { items } = await this.#cluster.client.ask<ObjectList<ClusterEvent>>({
        what: 'list events of a pod',
        method: 'GET',
        path: corePath(this.#cluster, 'events'),
        query: { fieldSelector: `involvedObject.uid=${metadata.uid}`, limit: '50' },
        timeout: callTimeouts.read,
      })
      return newestOf(items)
    } catch {
      return undefined
    }
  }
}

const isUnscheduled = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'False') ?? false

function newestOf(events: readonly ClusterEvent[]): StartWait | undefined {
  const known = events.filter(({ reason }) => waits.has(reason ?? ''))
  const newest = known.toSorted((one, other) => timeOf(one) - timeOf(other)).at(-1)
  return waits.get(newest?.reason ?? '')
}

const timeOf = ({ lastTimestamp, eventTime }: ClusterEvent): number => Date.parse(lastTimestamp ?? eventTime ?? '') || 0
