import type { RuntimeEvent } from '#/runtime/runtime-event.ts'
import type { Pod } from '../client/api-objects.ts'
import { endOf, stateOf, type PodState } from './pod-state.ts'

interface Before {
  readonly state: PodState
  readonly address: string | undefined
}

/** Turns the states of pods, one after the other, into events: what began, what ended, what is gone. */
export class PodChanges {
  readonly #before = new Map<string, Before>()

  /** After a list: events compare with what it has. */
  startOver(pods: readonly Pod[]): void {
    this.#before.clear()
    for (const pod of pods) this.#before.set(pod.metadata.uid, beforeOf(pod))
  }

  eventsOf(type: 'ADDED' | 'MODIFIED' | 'DELETED', pod: Pod): RuntimeEvent[] {
    const id = pod.metadata.uid
    const [before, now] = [this.#before.get(id), beforeOf(pod)]
    if (type === 'DELETED') this.#before.delete(id)
    else this.#before.set(id, now)
    const end: RuntimeEvent[] = hasEnded(before, now) ? [...oomOf(id, pod), { id, action: 'die' }] : []
    if (type === 'DELETED')
      return [...(before?.state === 'running' ? endOnce(end, id) : end), { id, action: 'destroy' }]
    if (end.length > 0) return end
    if (now.state === 'running' && before?.state !== 'running') return [{ id, action: 'start' }]
    return now.state !== before?.state || now.address !== before.address ? [{ id, action: 'other' }] : []
  }
}

const beforeOf = (pod: Pod): Before => ({ state: stateOf(pod), address: pod.status?.podIP })

/** From the begin of its deletion on a pod is no container to send requests to. */
const hasEnded = (before: Before | undefined, { state }: Before): boolean =>
  before?.state === 'running' ? state !== 'running' : before?.state === 'created' && state === 'exited'

const oomOf = (id: string, pod: Pod): RuntimeEvent[] =>
  endOf(pod)?.reason === 'OOMKilled' ? [{ id, action: 'oom' }] : []

const endOnce = (end: RuntimeEvent[], id: string): RuntimeEvent[] => (end.length > 0 ? end : [{ id, action: 'die' }])
