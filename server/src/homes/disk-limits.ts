import type { MemberLimits } from '#/templates/launch-rules.ts'
import type { Template, Templates } from '#/templates/template.ts'

/** Part of a limit from which its owner and the operator are warned. */
const warnFrom = 0.9
/** Part of a limit up to which the container with the most deletable data may still be started. */
const diskGrace = 1.25

/** Disk use of one user's homes at the last measurement, in bytes, by type. */
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

  /** @param perUser bytes of all homes of one user; null is no limit */
  constructor(templates: Templates, perUser: number | null) {
    this.#templates = templates
    this.#perUser = perUser
  }

  /** Whether any limit is set. */
  get areSet(): boolean {
    return this.#perUser !== null || this.#templates.all().some(({ homeSize }) => homeSize !== null)
  }

  /** Every limit of a user. Homes of types that are no longer configured count in the sum. */
  of(bytes: HomeBytes): DiskLimit[] {
    const ofHomes = this.#templates.all().flatMap(({ type, homeSize }) => {
      const used = bytes.get(type)
      return homeSize === null || used === undefined ? [] : [{ type, used, limit: homeSize }]
    })
    return this.#perUser === null ? ofHomes : [{ type: null, used: sumOf(bytes), limit: this.#perUser }, ...ofHomes]
  }

  /** Limits that are reached, or nearly. */
  nearlyFull(bytes: HomeBytes): DiskLimit[] {
    return this.of(bytes).filter(({ used, limit }) => used >= warnFrom * limit)
  }

  /** What the owner is told: limits that are reached, or nearly, and homes that cannot be measured but come under a limit. */
  notices(bytes: HomeBytes, unmeasured: ReadonlySet<string>): DiskNotice[] {
    const ofUnmeasured = [...unmeasured].flatMap((type) => {
      const limit = this.#templates.get(type)?.homeSize ?? this.#perUser
      return limit === null ? [] : [{ type, used: bytes.get(type) ?? 0, limit, measured: false }]
    })
    const measured = this.nearlyFull(bytes).filter(({ type }) => type === null || !unmeasured.has(type))
    return [...measured.map((each) => ({ ...each, measured: true })), ...ofUnmeasured]
  }

  /** Whether a limit counts all homes of a user together. */
  get areSummed(): boolean {
    return this.#perUser !== null
  }

  /** The limit that keeps this type from being started. */
  blockingLimit(type: string, bytes: HomeBytes): DiskLimit | undefined {
    const concerned = this.of(bytes).filter((each) => each.type === null || each.type === type)
    return concerned.filter(isFull).find((limit) => this.cleanUpTemplate(limit, bytes)?.type !== type)
  }

  /** The container in which the user can delete data; undefined when that one is above the grace, too. */
  cleanUpTemplate({ type, used, limit }: DiskLimit, bytes: HomeBytes): Template | undefined {
    if (used >= diskGrace * limit) return undefined
    return type === null ? this.#largestOf(bytes) : this.#templates.get(type)
  }

  /** Types that are not configured any more, or have no home, are left out: nothing can be deleted there. */
  #largestOf(bytes: HomeBytes): Template | undefined {
    const withHome = this.#templates.all().filter(({ type, home }) => home !== null && bytes.has(type))
    return withHome.toSorted((one, other) => (bytes.get(other.type) ?? 0) - (bytes.get(one.type) ?? 0))[0]
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

/** The limit of a group that keeps a container of this type from being started, by the rules of `DiskLimits`. */
export function fullMemberLimit(
  all: readonly MemberLimits[],
  type: string,
  bytes: HomeBytes,
  templates: Pick<Templates, 'all'>,
): FullMemberLimit | undefined {
  for (const { group, types, limits } of all) {
    const counts = (each: string) => types === null || types.includes(each)
    if (limits.disk === null || !counts(type)) continue
    const counted = new Map([...bytes].filter(([each]) => counts(each)))
    const used = [...counted.values()].reduce((sum, each) => sum + each, 0)
    if (used < limits.disk) continue
    const wayIn = used < diskGrace * limits.disk ? largestOf(counted, templates) : undefined
    if (wayIn?.type !== type) return { group, used, limit: limits.disk, wayIn }
  }
  return undefined
}

/** What each limit of a group that counts this type leaves, in bytes; negative beyond it. */
export function memberRooms(all: readonly MemberLimits[], type: string, bytes: HomeBytes): number[] {
  return all.flatMap(({ types, limits }) => {
    const counts = (each: string) => types === null || types.includes(each)
    if (limits.disk === null || !counts(type)) return []
    return [limits.disk - [...bytes].reduce((sum, [each, size]) => sum + (counts(each) ? size : 0), 0)]
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
