import type { RuntimeEvent } from '#/engines/runtime-event.ts'
import type { Pod } from './api-objects.ts'
import { endOf, stateOf, type PodState } from './pod-state.ts'

/** What is compared of a pod. */
export interface PodSight {
  readonly id: string
  readonly state: PodState
  readonly address: string | undefined
}

interface Before extends Omit<PodSight, 'id'> {
  /** Whether its program began, and has not ended by itself. */
  readonly isWanted: boolean
}

/** Turns the states of pods, one after the other, into events: what began, what ended, what is gone. */
export class PodChanges {
  readonly #before = new Map<string, Before>()
  readonly #isDeletedHere: (uid: string) => boolean

  /** @param isDeletedHere whether this process asked for the deletion of the pod with this uid */
  constructor(isDeletedHere: (uid: string) => boolean = () => true) {
    this.#isDeletedHere = isDeletedHere
  }

  /**
   * After a list: events compare with what it has, and with what was wanted of its pods before.
   * @returns events of the pods that are gone since the last
   */
  startOver(pods: readonly PodSight[]): RuntimeEvent[] {
    const listed = new Set(pods.map(({ id }) => id))
    const gone = [...this.#before].flatMap(([id, before]) => (listed.has(id) ? [] : this.#goneOf(id, before)))
    const now = pods.map((pod) => [pod.id, beforeOf(pod, this.#before.get(pod.id))] as const)
    this.#before.clear()
    for (const [id, before] of now) this.#before.set(id, before)
    return gone
  }

  eventsOf(type: 'ADDED' | 'MODIFIED' | 'DELETED', pod: Pod): RuntimeEvent[] {
    const id = pod.metadata.uid
    const before = this.#before.get(id)
    const now = beforeOf(sightOf(pod), before)
    if (type === 'DELETED') this.#before.delete(id)
    else this.#before.set(id, now)
    const end: RuntimeEvent[] = hasEnded(before, now) ? [...oomOf(id, pod), { id, action: 'die' }] : []
    if (type === 'DELETED')
      return [...(before?.state === 'running' ? endOnce(end, id) : end), ...this.#goneOf(id, before)]
    if (end.length > 0) return end
    if (now.state === 'running' && before?.state !== 'running') return [{ id, action: 'start' }]
    return now.state !== before?.state || now.address !== before.address ? [{ id, action: 'other' }] : []
  }

  #goneOf(id: string, before: Before | undefined): RuntimeEvent[] {
    const isEvicted = before?.isWanted === true && !this.#isDeletedHere(id)
    return [{ id, action: 'destroy', ...(isEvicted && { isEvicted }) }]
  }
}

export const sightOf = (pod: Pod): PodSight => ({
  id: pod.metadata.uid,
  state: stateOf(pod),
  address: pod.status?.podIP,
})

function beforeOf({ state, address }: PodSight, before?: Before): Before {
  const isWanted = state === 'running' || (state === 'removing' && before?.isWanted === true)
  return { state, address, isWanted }
}

/** From the begin of its deletion on a pod is no container to send requests to. */
const hasEnded = (before: Before | undefined, { state }: Before): boolean =>
  before?.state === 'running' ? state !== 'running' : before?.state === 'created' && state === 'exited'

const oomOf = (id: string, pod: Pod): RuntimeEvent[] =>
  endOf(pod)?.reason === 'OOMKilled' ? [{ id, action: 'oom' }] : []

const endOnce = (end: RuntimeEvent[], id: string): RuntimeEvent[] => (end.length > 0 ? end : [{ id, action: 'die' }])
