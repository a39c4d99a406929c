import type { Template, Templates } from '../templates/template.ts'

/** From this part of a limit on its owner and the operator are warned. */
const warnFrom = 0.9
/** How far beyond a limit the container may still be started in which its owner can delete most. */
const grace = 1.25

/** What somebody's homes took when they were measured, in bytes, by type. */
export type HomeBytes = ReadonlyMap<string, number>

/** A limit that somebody has, and how much of it they use; both in bytes. */
export interface DiskLimit {
  /** Of the home of this type; null is of all their homes together. */
  readonly type: string | null
  readonly used: number
  readonly limit: number
}

/**
 * How much people may have on disk. The limits are soft, because most engines cannot bind a volume: what runs goes on,
 * and beyond a limit nothing more is started, except the container in which its owner can delete most, until they are a
 * quarter beyond it. Where the engine binds the size of a home, that is kept by the engine, and never gets so far.
 */
export class DiskLimits {
  readonly #templates: Templates
  readonly #perUser: number | null

  /** @param perUser bytes of all homes of one person; null is no limit */
  constructor(templates: Templates, perUser: number | null) {
    this.#templates = templates
    this.#perUser = perUser
  }

  /** Whether there is any. */
  get areSet(): boolean {
    return this.#perUser !== null || this.#templates.all().some(({ homeSize }) => homeSize !== null)
  }

  /** Every limit of somebody. Homes of types that are not configured any more count in the sum. */
  of(bytes: HomeBytes): DiskLimit[] {
    const ofHomes = this.#templates.all().flatMap(({ type, homeSize }) => {
      const used = bytes.get(type)
      return homeSize === null || used === undefined ? [] : [{ type, used, limit: homeSize }]
    })
    return this.#perUser === null ? ofHomes : [{ type: null, used: sumOf(bytes), limit: this.#perUser }, ...ofHomes]
  }

  /** Those that are used up, or nearly. */
  nearlyFull(bytes: HomeBytes): DiskLimit[] {
    return this.of(bytes).filter(({ used, limit }) => used >= warnFrom * limit)
  }

  /** The limit that keeps this type from being started. */
  blockingLimit(type: string, bytes: HomeBytes): DiskLimit | undefined {
    const concerned = this.of(bytes).filter((each) => each.type === null || each.type === type)
    return concerned.filter(isFull).find((limit) => this.cleanUpTemplate(limit, bytes)?.type !== type)
  }

  /** Where somebody can still get in to delete what they have too much; undefined when that is too much as well. */
  cleanUpTemplate({ type, used, limit }: DiskLimit, bytes: HomeBytes): Template | undefined {
    if (used >= grace * limit) return undefined
    return type === null ? this.#largestOf(bytes) : this.#templates.get(type)
  }

  /** Of a type that is not configured any more, or has no home now, nobody can delete anything: it leads nowhere. */
  #largestOf(bytes: HomeBytes): Template | undefined {
    const withHome = this.#templates.all().filter(({ type, home }) => home !== null && bytes.has(type))
    return withHome.toSorted((one, other) => (bytes.get(other.type) ?? 0) - (bytes.get(one.type) ?? 0))[0]
  }
}

export const isFull = ({ used, limit }: DiskLimit) => used >= limit

export const sumOf = (bytes: HomeBytes) => [...bytes.values()].reduce((sum, each) => sum + each, 0)
