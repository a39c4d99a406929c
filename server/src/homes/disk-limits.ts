import type { MemberLimits } from '#/templates/launch-rules.ts'
import { sharedHome } from '#/containers/container-name.ts'
import type { HomeNames } from '#/containers/open-containers.ts'
import type { Template, Templates } from '#/templates/template.ts'

/** Part of a limit from which its owner and the operator are warned. */
const warnFrom = 0.9
/** Part of a limit up to which the container with the most deletable data may still be started. */
const diskGrace = 1.25

/** Disk use of one user's homes at the last measurement, in bytes, by type, with `sharedHome` for the one that types share. */
export type HomeBytes = ReadonlyMap<string, number>

/** A limit of one user, and how much of it is used; both in bytes. */
export interface DiskLimit {
  /** Type of the home that is limited; null is all homes together. */
  readonly type: string | null
  readonly used: number
  readonly limit: number
}

/** What an owner is told of a limit. */
export interface DiskNotice extends DiskLimit {
  /** False: the home of this type cannot be measured; `used` is what was known last. */
  readonly measured: boolean
}

/**
 * Disk limits per user and per type. They are soft, because most engines cannot limit the size of a volume: running
 * containers continue, and above a limit no container is started, except the one in which its owner can delete most, up
 * to 125 %. Where the engine enforces the size of a home, its use stays below.
 */
export class DiskLimits {
  readonly #templates: Templates
  readonly #perUser: number | null
  readonly #names: Pick<HomeNames, 'keyOf' | 'typesWith'>

  /** @param perUser bytes of all homes of one user; null is no limit */
  constructor(templates: Templates, perUser: number | null, names: Pick<HomeNames, 'keyOf' | 'typesWith'>) {
    this.#templates = templates
    this.#perUser = perUser
    this.#names = names
  }

  /** Whether any limit is set. */
  get areSet(): boolean {
    return this.#perUser !== null || this.#templates.all().some(({ homeSize }) => homeSize !== null)
  }

  /**
   * Every limit of a user. Homes of types that are no longer configured count in the sum. The home that types share has one
   * limit, of the first of them.
   * @param extra bytes that an administrator gives this user beyond each
   */
  of(bytes: HomeBytes, extra = 0): DiskLimit[] {
    const first = this.#names.typesWith(sharedHome)[0]
    const ofHomes = this.#templates.all().flatMap(({ type, homeSize }) => {
      const key = this.#names.keyOf(type)
      const used = bytes.get(key)
      const isCounted = key !== sharedHome || type === first
      return homeSize === null || used === undefined || !isCounted ? [] : [{ type, used, limit: homeSize + extra }]
    })
    if (this.#perUser === null) return ofHomes
    return [{ type: null, used: sumOf(bytes), limit: this.#perUser + extra }, ...ofHomes]
  }

  /** Limits that are reached, or nearly. */
  nearlyFull(bytes: HomeBytes, extra = 0): DiskLimit[] {
    return this.of(bytes, extra).filter(({ used, limit }) => used >= warnFrom * limit)
  }

  /** What the owner is told: limits that are reached, or nearly, and homes that cannot be measured but come under a limit. */
  notices(bytes: HomeBytes, unmeasured: ReadonlySet<string>, extra = 0): DiskNotice[] {
    const ofUnmeasured = [...unmeasured].flatMap((type) => {
      const shown = type === sharedHome ? (this.#names.typesWith(sharedHome)[0] ?? type) : type
      const limit = this.#templates.get(shown)?.homeSize ?? this.#perUser
      return limit === null ? [] : [{ type: shown, used: bytes.get(type) ?? 0, limit: limit + extra, measured: false }]
    })
    const measured = this.nearlyFull(bytes, extra).filter(
      ({ type }) => type === null || !unmeasured.has(this.#names.keyOf(type)),
    )
    return [...measured.map((each) => ({ ...each, measured: true })), ...ofUnmeasured]
  }

  /** Whether a limit counts all homes of a user together. */
  get areSummed(): boolean {
    return this.#perUser !== null
  }

  /** The limit that keeps this type from being started. */
  blockingLimit(type: string, bytes: HomeBytes, extra = 0): DiskLimit | undefined {
    const key = this.#names.keyOf(type)
    const concerned = this.of(bytes, extra).filter((each) => each.type === null || this.#names.keyOf(each.type) === key)
    return concerned.filter(isFull).find((limit) => {
      const wayIn = this.cleanUpTemplate(limit, bytes)
      return wayIn === undefined || this.#names.keyOf(wayIn.type) !== key
    })
  }

  /** The container in which the user can delete data; undefined when that one is above the grace, too. */
  cleanUpTemplate({ type, used, limit }: DiskLimit, bytes: HomeBytes): Template | undefined {
    if (used >= diskGrace * limit) return undefined
    return type === null ? this.#largestOf(bytes) : this.#templates.get(type)
  }

  /** Types that are not configured any more, or have no home, are left out: nothing can be deleted there. */
  #largestOf(bytes: HomeBytes): Template | undefined {
    const sizeOf = ({ type }: Template) => bytes.get(this.#names.keyOf(type))
    const withHome = this.#templates.all().filter((each) => each.home !== null && sizeOf(each) !== undefined)
    return withHome.toSorted((one, other) => (sizeOf(other) ?? 0) - (sizeOf(one) ?? 0))[0]
  }
}

export const isFull = ({ used, limit }: DiskLimit) => used >= limit

export const sumOf = (bytes: HomeBytes) => [...bytes.values()].reduce((sum, each) => sum + each, 0)

/** A limit of a group that a member's homes have reached; both in bytes. */
export interface FullMemberLimit {
  readonly group: string
  readonly used: number
  readonly limit: number
  /** The type that still starts, so that files can be deleted; undefined when none does. */
  readonly wayIn: Template | undefined
}

/** `all` with so many bytes more on each disk limit. */
export const withExtraDisk = (all: readonly MemberLimits[], extra: number): readonly MemberLimits[] =>
  all.map(({ limits, ...each }) => ({
    ...each,
    limits: { ...limits, disk: limits.disk === null ? null : limits.disk + extra },
  }))

/** The limit of a group that keeps a container of this type from being started, by the rules of `DiskLimits`. */
export function fullMemberLimit(
  all: readonly MemberLimits[],
  type: string,
  bytes: HomeBytes,
  templates: Pick<Templates, 'all'>,
  typesOf: TypesOfHome,
): FullMemberLimit | undefined {
  for (const { group, types, limits } of all) {
    const counts = (each: string) => types === null || types.includes(each)
    if (limits.disk === null || !counts(type)) continue
    const counted = new Map([...bytes].filter(([each]) => typesOf(each).some(counts)))
    const used = [...counted.values()].reduce((sum, each) => sum + each, 0)
    if (used < limits.disk) continue
    const byType = new Map([...counted].flatMap(([key, size]) => typesOf(key).map((each) => [each, size] as const)))
    const wayIn = used < diskGrace * limits.disk ? largestOf(byType, templates) : undefined
    if (!wayIn || !isSameHome(wayIn.type, type, bytes, typesOf)) return { group, used, limit: limits.disk, wayIn }
  }
  return undefined
}

/** Types that have the home of a key: several of one that they share. */
type TypesOfHome = (key: string) => readonly string[]

const isSameHome = (one: string, other: string, bytes: HomeBytes, typesOf: TypesOfHome) =>
  one === other || [...bytes.keys()].some((key) => typesOf(key).includes(one) && typesOf(key).includes(other))

/** What each limit of a group that counts this type leaves, in bytes; negative beyond it. */
export function memberRooms(
  all: readonly MemberLimits[],
  type: string,
  bytes: HomeBytes,
  typesOf: TypesOfHome,
): number[] {
  return all.flatMap(({ types, limits }) => {
    const counts = (each: string) => types === null || types.includes(each)
    if (limits.disk === null || !counts(type)) return []
    const isCounted = (key: string) => typesOf(key).some(counts)
    return [limits.disk - [...bytes].reduce((sum, [key, size]) => sum + (isCounted(key) ? size : 0), 0)]
  })
}

/** Whether a disk limit of a group counts homes of both types. */
export const countsTogether = (all: readonly MemberLimits[], one: string, other: string): boolean =>
  all.some(
    ({ types, limits }) => limits.disk !== null && (types === null || (types.includes(one) && types.includes(other))),
  )

/** The type with the most to delete; types without a home, or that are not configured any more, are left out. */
function largestOf(bytes: HomeBytes, templates: Pick<Templates, 'all'>): Template | undefined {
  const withHome = templates.all().filter(({ type, home }) => home !== null && bytes.has(type))
  return withHome.toSorted((one, other) => (bytes.get(other.type) ?? 0) - (bytes.get(one.type) ?? 0))[0]
}
