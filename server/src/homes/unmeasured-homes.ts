/** Owner of homes. By slug as well: after an older store is restored, ids are assigned again. */
export interface HomeOwner {
  readonly userId: number
  readonly slug: string
}

export const keyOf = ({ userId, slug }: HomeOwner) => `${userId} ${slug}`

/** A home by its owner and type. */
export interface OwnedHome extends HomeOwner {
  readonly type: string
}

/** Measurements in a row without a size from which a home counts as unmeasured: once may be a file that went away meanwhile. */
const minMisses = 2

/** Homes without a size at the last measurement, each with how many in a row had none, by owner and type. */
type Misses = ReadonlyMap<string, { readonly home: OwnedHome; readonly count: number }>

/**
 * Homes of which the engine could not tell the size, as with a path that is longer than it can follow. Their users may have brought
 * that about, and no disk limit counts what is in them. One state for each measurement.
 */
export class UnmeasuredHomes {
  readonly #misses: Misses
  /** Those that count as unmeasured. */
  readonly all: readonly OwnedHome[]
  readonly #typesByOwner: ReadonlyMap<string, ReadonlySet<string>>

  constructor(misses: Misses = new Map()) {
    this.#misses = misses
    this.all = [...misses.values()].filter(({ count }) => count >= minMisses).map(({ home }) => home)
    const byOwner = Map.groupBy(this.all, keyOf)
    this.#typesByOwner = new Map([...byOwner].map(([key, homes]) => [key, new Set(homes.map(({ type }) => type))]))
  }

  /** The state after another measurement. @param missed homes of which it has no size */
  after(missed: readonly OwnedHome[]): UnmeasuredHomes {
    const miss = (home: OwnedHome) => ({ home, count: (this.#misses.get(homeKey(home))?.count ?? 0) + 1 })
    return new UnmeasuredHomes(new Map(missed.map((home) => [homeKey(home), miss(home)])))
  }

  /** Types of an owner's homes that count as unmeasured. */
  of(owner: HomeOwner): ReadonlySet<string> {
    return this.#typesByOwner.get(keyOf(owner)) ?? none
  }

  has(home: OwnedHome): boolean {
    return this.of(home).has(home.type)
  }
}

const none: ReadonlySet<string> = new Set()

const homeKey = (home: OwnedHome) => `${keyOf(home)} ${home.type}`
