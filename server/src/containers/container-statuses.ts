import type { ContainerStatus } from '@berth/api/admin.ts'
import type { Among } from '#/store/container-list.ts'
import type { OwnedType } from './owned-type.ts'
import { allKinds, kindOf, type Kind } from './picture.ts'
import type { Places } from './places.ts'

/** What administrators read of each way that a container may be. */
const statusOf: Readonly<Record<Kind, ContainerStatus>> = {
  running: 'running',
  paused: 'paused',
  asleep: 'stopped',
  missing: 'missing',
  crashed: 'failed',
  'out-of-memory': 'failed',
  'no-image': 'failed',
  failed: 'failed',
  unknown: 'unknown',
}

type KnownPlaces = Pick<Places, 'get' | 'placeOf' | 'fewerOfKinds'>

/**
 * Where containers stand, as far as Berth knows without asking the engine, which would have to be asked for each.
 * - `missing`: the record has no container: it was never launched, or somebody removed it from the engine.
 * - `failed`: its program ended by itself with an error or for want of memory, or its last launch failed, since this
 *   process began; the next launch forgets it.
 * - `unknown`: the engine does not answer, or the type is not configured any more, so that nobody looks at it.
 * - `stopped`: any other that does not run. Whether it is blocked, the record says.
 */
export class ContainerStatuses {
  readonly #places: KnownPlaces
  readonly #types: readonly string[]

  /** @param types those that are configured */
  constructor(places: KnownPlaces, types: readonly string[]) {
    this.#places = places
    this.#types = types
  }

  of(owned: OwnedType): ContainerStatus {
    const known = this.#places.get(owned)
    const place = known && this.#places.placeOf(known)
    return place ? statusOf[kindOf(place)] : 'unknown'
  }

  /** Which records have this status, in fewer than half of the ids; about 10 ms of 100,000. */
  among(status: ContainerStatus): Among {
    const kinds = new Set(allKinds.filter((kind) => statusOf[kind] === status))
    const { containers, areOthers } = this.#places.fewerOfKinds(kinds)
    const ids = containers.map(({ recordId }) => recordId)
    // What nobody looks at is unknown, and has no id here.
    if (status === 'unknown')
      return areOthers ? { ids, isOtherwise: true } : { ids, isOtherwise: false, orNotOf: this.#types }
    return areOthers ? { ids, isOtherwise: true, types: this.#types } : { ids, isOtherwise: false }
  }
}
