import type { Logger } from 'pino'
import { attempt } from '#/attempt.ts'
import type { Admission } from '#/containers/admission.ts'
import { blockedGrace } from '#/containers/block-of.ts'
import type { Flights } from '#/containers/flights.ts'
import { ownedKey, type OwnedType } from '#/containers/owned-type.ts'
import type { Places } from '#/containers/places.ts'
import { RuntimeError, type Instance, type Runtime } from '#/runtime/runtime.ts'
import { forgetInstance, storeAdopted, storeRetired } from '#/store/records-with-owners.ts'
import { noteStopped } from '#/store/user-containers.ts'
import { findDesired, type DesiredParts } from './desired.ts'
import type { EngineHistory } from './engine-history.ts'
import { plan, type Action, type Desired, type Graces } from './plan.ts'
import type { Tally } from './tally.ts'

export interface MenderParts extends DesiredParts {
  readonly runtime: Runtime
  readonly flights: Flights
  readonly places: Pick<Places, 'publishContainer'>
  readonly admission: Pick<Admission, 'recheck'>
  readonly history: EngineHistory
  readonly graces: Graces
  readonly tally: Tally
  readonly log: Logger
}

/** Nothing of a plan for one container that is made again counts on how programs ended. */
const blindly = { isFirstLook: false, isBlind: true, restoring: new Set<string>() }

/** Makes what the engine has of one (user, type) as the store says. */
export class Mender {
  readonly #parts: MenderParts
  /** By `ownedKey` what was asked for since the last look at it: the engine's ids that are known beside the record's. */
  readonly #wanted = new Map<string, Set<string>>()

  constructor(parts: MenderParts) {
    this.#parts = parts
  }

  /**
   * In its turn, after whatever is under way for it: looks again, plans again, and does what is still to do; nothing, when
   * that was done meanwhile. So an old list, a lifted block or a launch that was quicker do no harm.
   * @param ids engine's ids of containers that are labelled as theirs, beside the record's and the one of its name
   * @throws {RuntimeError} what is done by then stays, and the rest is done by the next attempt
   */
  async mend(owned: OwnedType, ids: readonly string[] = []): Promise<void> {
    const key = ownedKey(owned)
    this.#wanted.set(key, new Set([...(this.#wanted.get(key) ?? []), ...ids]))
    // Otherwise a stop would stand behind a launch that waits for its turn, for minutes.
    this.#parts.admission.recheck(owned.userId, owned.type)
    // A flight that is under way may have looked before what its new passenger wants to see: a block that was just stored.
    while (this.#wanted.has(key)) await this.#parts.flights.join(key, 'mend', () => this.#inFlight(owned))
  }

  async #inFlight(owned: OwnedType): Promise<void> {
    const { history, graces, places } = this.#parts
    const ids = this.#wanted.get(ownedKey(owned)) ?? []
    this.#wanted.delete(ownedKey(owned))
    const now = performance.now()
    const observed = await this.#find(owned, await findDesired(this.#parts, owned), ids)
    // Read again: what was found had its record before it was made, see `plan`.
    const desired = await findDesired(this.#parts, owned)
    const memory = { ...history.memory(blindly.restoring), ...blindly }
    const actions = plan(desired ? [desired] : [], observed, memory, now, graces).actions.filter(isForEngineOrRecord)
    if (actions.length === 0) return
    try {
      for (const action of actions) await this.#do(action)
    } finally {
      await places.publishContainer(owned)
    }
  }

  /** By name and id: a look for labels would read every container that the engine has. */
  async #find(owned: OwnedType, record: Desired | undefined, ids: Iterable<string>): Promise<Instance[]> {
    const { runtime } = this.#parts
    const known = new Set([...ids, ...(record?.containerId ? [record.containerId] : [])])
    const found = await Promise.all([
      record && runtime.inspect(record.name),
      ...[...known].map((id) => runtime.inspectId(id)),
    ])
    const theirs = found.filter(
      (each) => each !== undefined && each.owner !== null && ownedKey(each.owner) === ownedKey(owned),
    )
    return [...new Map(theirs.map((each) => [each?.id, each as Instance])).values()]
  }

  async #do(action: Mending): Promise<void> {
    const { tally, log } = this.#parts
    await this.#act(action)
    tally.count(action.kind)
    log.info(wordsFor(action), 'reconciled')
  }

  async #act(action: Mending): Promise<void> {
    const { db, runtime } = this.#parts
    switch (action.kind) {
      case 'adopt':
        return storeAdopted(db, action.recordId, action.instance)
      case 'stop':
        if (isOfRecord(action)) await noteStopped(db, action.userId, action.type, new Date())
        return runtime.stop(action.instance.id, undefined, action.why === 'blocked' ? blockedGrace : undefined)
      case 'remove':
        return runtime.remove(action.instance.id)
      case 'forget':
        return forgetInstance(db, action.recordId)
      case 'retire':
        return this.#retire(action)
    }
  }

  /**
   * Stored first, so that nobody is told for a moment that it is missing. After a crash in between, or an answer that never
   * came, the next full look finds the container by its name, if it is still there, adopts it, and begins anew.
   */
  async #retire({ userId, type, recordId, instance }: Extract<Action, { kind: 'retire' }>): Promise<void> {
    const { db, runtime, places, log } = this.#parts
    await storeRetired(db, recordId, new Date())
    await places.publishContainer({ userId, type })
    try {
      await runtime.removeStopped(instance.id)
    } catch (error) {
      // It may be gone all the same; stored as there it would be missing then, which no visit wakes.
      const isRefused = !(error instanceof RuntimeError && error.kind === 'unreachable')
      if (isRefused) await attempt(log, 'storing that a container stays', () => storeAdopted(db, recordId, instance))
      throw error
    }
  }
}

export type Mending = Exclude<Action, { kind: 'restore' | 'note' }>

export const isForEngineOrRecord = (action: Action): action is Mending =>
  action.kind !== 'restore' && action.kind !== 'note'

/** Noted before it is done: whatever the program says when it ends, it has not crashed. */
const isOfRecord = ({ why }: Extract<Action, { kind: 'stop' }>) => why === 'blocked' || why === 'no such type'

function wordsFor(action: Mending): object {
  const { kind, userId, type } = action
  const instance = 'instance' in action ? { container: action.instance.name, id: action.instance.id } : {}
  return { action: kind, userId, type, ...('why' in action ? { why: action.why } : {}), ...instance }
}
