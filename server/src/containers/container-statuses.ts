import type { ContainerStatus } from '@berth/api/admin.ts'
import type { Absence } from '#/gateway/gateway.ts'
import type { Among } from '#/store/container-list.ts'
import { isThere } from './known-container.ts'
import type { OwnedType } from './owned-type.ts'
import type { Places } from './places.ts'

/** What administrators read of each reason why a container cannot be reached. */
const ofAbsence: Readonly<Record<Absence['absent'], ContainerStatus>> = {
  asleep: 'stopped',
  missing: 'missing',
  crashed: 'failed',
  'out-of-memory': 'failed',
  'no-image': 'failed',
  failed: 'failed',
  unknown: 'unknown',
}

/**
 * Where containers stand, as far as Berth knows without asking the engine, which would have to be asked for each.
 * - `missing`: the record has no container: it was never launched, or somebody removed it from the engine.
 * - `failed`: its program ended by itself with an error or for want of memory, or its last launch failed, since this
 *   process began; the next launch forgets it.
 * - `unknown`: the engine does not answer, or the type is not configured any more, so that nobody looks at it.
 * - `stopped`: any other that does not run. Whether it is blocked, the record says.
 */
export class ContainerStatuses {
  readonly #places: Pick<Places, 'all' | 'get' | 'placeOf'>
  readonly #types: readonly string[]

  /** @param types those that are configured */
  constructor(places: Pick<Places, 'all' | 'get' | 'placeOf'>, types: readonly string[]) {
    this.#places = places
    this.#types = types
  }

  of(owned: OwnedType): ContainerStatus {
    const known = this.#places.get(owned)
    const where = known && this.#places.placeOf(known)?.where
    if (!where) return 'unknown'
    if (!isThere(where)) return ofAbsence[where.absent]
    return where.isPaused ? 'paused' : 'running'
  }

  /** Which records have this status, in fewer than half of the ids where there is a choice; about 10 ms of 100,000. */
  among(status: ContainerStatus): Among {
    const [these, others]: [number[], number[]] = [[], []]
    for (const known of this.#places.all()) (this.of(known) === status ? these : others).push(known.recordId)
    // What is not known of at all has no id here.
    if (status === 'unknown') return { ids: others, isOtherwise: true }
    if (these.length <= others.length) return { ids: these, isOtherwise: false }
    return { ids: others, isOtherwise: true, types: this.#types }
  }
}
