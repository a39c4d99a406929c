import type { Logger } from 'pino'
import type { Admission } from '#/containers/admission.ts'
import { blockedGrace } from '#/containers/block-of.ts'
import type { Flights } from '#/containers/flights.ts'
import { ownedKey, type OwnedType } from '#/containers/owned-type.ts'
import type { Places } from '#/containers/places.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { forgetInstance, storeAdopted } from '#/store/records-with-owners.ts'
import { noteStopped } from '#/store/user-containers.ts'
import { findDesired, type DesiredParts } from './desired.ts'
import type { EngineHistory } from './engine-history.ts'
import { plan, type Action, type Graces } from './plan.ts'
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
  /** `ownedKey` of what was asked for since the last look at it. */
  readonly #wanted = new Set<string>()

  constructor(parts: MenderParts) {
    this.#parts = parts
  }

  /**
   * In its turn, after whatever is under way for it: looks again, plans again, and does what is still to do; nothing, when
   * that was done meanwhile. So an old list, a lifted block or a launch that was quicker do no harm.
   * @throws {RuntimeError} what is done by then stays, and the rest is done by the next attempt
   */
  async mend(owned: OwnedType): Promise<void> {
    const key = ownedKey(owned)
    this.#wanted.add(key)
    // Otherwise a stop would stand behind a launch that waits for its turn, for minutes.
    this.#parts.admission.recheck(owned.userId, owned.type)
    // A flight that is under way may have looked before what its new passenger wants to see: a block that was just stored.
    while (this.#wanted.has(key)) await this.#parts.flights.join(key, 'mend', () => this.#inFlight(owned))
  }

  async #inFlight(owned: OwnedType): Promise<void> {
    const { runtime, history, graces, places } = this.#parts
    this.#wanted.delete(ownedKey(owned))
    const now = performance.now()
    const instances = await runtime.list({ userId: owned.userId })
    const observed = instances.filter(({ owner }) => owner?.type === owned.type)
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
