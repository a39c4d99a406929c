import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterCall, ClusterClient } from './cluster-client.ts'
import { reasonOf, statusOf } from './cluster-errors.ts'

/** Max pauses before the attempts after the first, in ms. */
const maxPauses = [200, 500, 1_000, 2_000]

/**
 * Creates an object, and tries again when others changed a quota at the same moment: the API server answers 409 then, too ("Operation
 * cannot be fulfilled on resourcequotas ..."), and has created nothing.
 * @throws {RuntimeError} `conflict` when there is one of this name, or the quota was still changing after the last attempt
 */
export async function createObject<T = void>(client: ClusterClient, call: Omit<ClusterCall, 'method'>): Promise<T> {
  const create = () => client.ask<T>({ ...call, method: 'POST' })
  for (const max of maxPauses) {
    try {
      return await create()
    } catch (error) {
      if (statusOf(error) !== 409 || reasonOf(error) === 'AlreadyExists') throw error
    }
    // Launches of a class that collided do not do so again.
    const pause = (max * (1 + Math.random())) / 2
    await sleep(pause, undefined, { ...(call.signal && { signal: call.signal }) }).catch(() => undefined)
    call.signal?.throwIfAborted()
  }
  return create()
}
