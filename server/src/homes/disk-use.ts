import type { Logger } from 'pino'
import { formatBytes, list, message, type LocalizedMessage, type Value } from '@berth/texts/localized-message.ts'
import { homeVolume, sharedHome } from '#/containers/container-name.ts'
import type { HomeNames } from '#/containers/open-containers.ts'
import type { UserEvent } from '#/containers/user-events.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { PeriodicTask } from '#/machine/periodic-task.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { User } from '#/store/users.ts'
import type { LaunchRules, MemberLimits } from '#/templates/launch-rules.ts'
import type { Template, Templates } from '#/templates/template.ts'
import {
  countsTogether,
  fullMemberLimit,
  isFull,
  memberRooms,
  sumOf,
  withExtraDisk,
  type DiskLimit,
  type DiskLimits,
  type DiskNotice,
  type HomeBytes,
} from './disk-limits.ts'

/** Timeout of a launch that waits for newer numbers of its owner, in ms. */
const refreshTimeout = 4_000
/** Age from which numbers are measured again before a refusal, in ms. */
const defaultMaxAge = 30_000
/** The same before a launch that a limit of a group concerns; with `refreshTimeout` less than a tenth of the time. */
const defaultMaxMemberAge = 60_000
/** Max users that a warning names. */
const maxNamed = 3

export interface DiskUseParts {
  readonly runtime: Pick<Runtime, 'homes' | 'measureHomes' | 'capabilities'>
  readonly limits: DiskLimits
  /** Disk limits of groups; see `LaunchRules`. */
  readonly rules: Pick<LaunchRules, 'limitsFor' | 'hasDiskLimits'> & {
    readonly directory: { readonly hasFolders: boolean }
  }
  readonly templates: Pick<Templates, 'all'>
  readonly names: Pick<HomeNames, 'sharedTypes' | 'keyOf' | 'typesWith'>
  readonly installation: string
  /** Bytes that users have beyond every limit, by id; see `listExtraDisk`. */
  readonly readExtra?: () => Promise<ReadonlyMap<number, number>>
  /** Slug of the user with this id; undefined when there is none. */
  readonly slugOf: (userId: number) => string | undefined
  readonly publish: (userId: number, event: UserEvent) => void
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** For tests, in ms. */
  readonly maxAge?: number
  readonly maxMemberAge?: number
}

/** Homes of one user at the last measurement. */
interface Measured extends HomeOwner {
  readonly bytes: HomeBytes
}

/**
 * Disk use of homes at the last measurement: warns owners and the operator before a limit is reached, and refuses
 * launches above it. What was never measured is not refused. Beside a home that the engine cannot measure, which its user may have
 * brought about, no other container is started that comes under the same limit.
 */
export class DiskUse {
  readonly #parts: DiskUseParts
  readonly #end = new AbortController()
  /** By `keyOf` its owner. */
  #byOwner: ReadonlyMap<string, Measured> = new Map()
  /** Of volumes that are no homes, by their names. */
  #folders: ReadonlyMap<string, number> = new Map()
  #unmeasured = new UnmeasuredHomes()
  #extra: ReadonlyMap<number, number> = new Map()
  #measuring: Promise<void> | undefined
  /** When the last measurement of all was asked for, and when that of the present numbers began, by `performance.now()`. */
  #askedAt = -Infinity
  #measuredAt = -Infinity
  #hasMeasured = false
  /** When something was removed last, by `performance.now()`: what was begun before that does not count for new. */
  #removedAt = -Infinity
  /** Owners who were measured alone since, by `ownerKey`: when that began, and how long it took, in ms. */
  #renewed = new Map<string, { readonly at: number; readonly took: number }>()
  readonly #renewing = new Map<string, Promise<void>>()

  constructor(parts: DiskUseParts) {
    this.#parts = parts
  }

  /** Whether a limit or the folder of a group needs the numbers, and the engine has them. */
  get isWanted(): boolean {
    const { limits, rules, runtime } = this.#parts
    const isNeeded = limits.areSet || rules.hasDiskLimits || rules.directory.hasFolders
    return isNeeded && runtime.capabilities.measuresHomes
  }

  /**
   * Asks the engine, which may take minutes; concurrent calls share one measurement.
   * @throws {RuntimeError} the numbers of the last measurement stay in use
   */
  async measure(): Promise<void> {
    this.#measuring ??= this.#measureOnce().finally(() => (this.#measuring = undefined))
    return this.#measuring
  }

  /** After what a user has beyond the limits has changed. @throws {StoreFailure} */
  async followExtra(userId: number): Promise<void> {
    const slug = this.#parts.slugOf(userId)
    const was = slug === undefined ? [] : this.#noticesOf({ userId, slug })
    this.#extra = await this.#readExtra()
    if (slug !== undefined) this.#publishChange({ userId, slug }, was)
  }

  /** The present numbers are too large: a refusal measures again first. */
  noteRemoved(): void {
    this.#removedAt = performance.now()
  }

  /** Cancels a measurement in progress. */
  close(): void {
    this.#end.abort()
  }

  /**
   * Pre-launch hook. Numbers that are not new are measured again before a refusal, those of this owner alone, so that deleted files
   * count soon; with many files that exceeds the timeout, and the next attempt has the new numbers. A launch that a limit of a group concerns
   * does not pass by old numbers either, where a measurement takes less than the timeout.
   */
  async refusalFor(
    { id, slug }: Pick<User, 'id' | 'slug'>,
    { type }: Pick<Template, 'type'>,
  ): Promise<Refusal | undefined> {
    const owner = { userId: id, slug }
    const ofGroups = await this.#memberLimitsOf(id, type)
    const refuse = () => this.#refusalNow(owner, type, ofGroups)
    if (!refuse() && !this.#isTooOld(owner, ofGroups, type)) return undefined
    await withTimeout(refreshTimeout, this.#renew(owner))
    return refuse()
  }

  /** A home of this type by the last measurement, and the limit of it alone, in bytes; undefined while it is not measured. */
  spaceOf(
    { id, slug }: Pick<User, 'id' | 'slug'>,
    type: string,
  ): { readonly used: number; readonly limit: number | null } | undefined {
    const { limits, names } = this.#parts
    const bytes = this.bytesOf({ userId: id, slug })
    const key = names.keyOf(type)
    const used = bytes.get(key)
    const ofHome = limits
      .of(bytes, this.#extraOf(id))
      .find((each) => each.type !== null && names.keyOf(each.type) === key)
    return used === undefined ? undefined : { used, limit: ofHome?.limit ?? null }
  }

  /**
   * By the last numbers.
   * @returns bytes by which a home of this type may grow; undefined when no limit is known to concern it
   */
  async roomFor({ id, slug }: Pick<User, 'id' | 'slug'>, type: string): Promise<number | undefined> {
    const bytes = this.bytesOf({ userId: id, slug })
    const { limits, names } = this.#parts
    const key = names.keyOf(type)
    const concerned = limits
      .of(bytes, this.#extraOf(id))
      .filter((each) => each.type === null || names.keyOf(each.type) === key)
    const ofGroups = await this.#memberLimitsOf(id, type)
    const rooms = [
      ...concerned.map(({ limit, used }) => limit - used),
      ...memberRooms(ofGroups, type, bytes, this.#typesOf),
    ]
    return rooms.length === 0 ? undefined : Math.max(0, Math.min(...rooms))
  }

  /** Present warnings as events, for a page that opens. */
  current(userId: number): UserEvent[] {
    const slug = this.#parts.slugOf(userId)
    return slug === undefined ? [] : this.#noticesOf({ userId, slug }).map(toEvent)
  }

  /** Warnings for the operator, a sentence each; a few, however many users there are. */
  warnings(): readonly LocalizedMessage[] {
    const reached = [...this.#byOwner.values()].flatMap(({ userId, slug, bytes }) =>
      this.#parts.limits.nearlyFull(bytes, this.#extraOf(userId)).map((limit) => ({ userId, slug, limit })),
    )
    const [full, nearly] = [reached.filter(({ limit }) => isFull(limit)), reached.filter(({ limit }) => !isFull(limit))]
    return [
      ...(full.length > 0 ? [message('warnings.fullHomes', { count: full.length, homes: largest(full) })] : []),
      ...(nearly.length > 0
        ? [message('warnings.nearlyFullHomes', { count: nearly.length, homes: largest(nearly) })]
        : []),
      ...unmeasuredWarning(this.#unmeasured.all),
    ]
  }

  /** Numbers for `/metrics`, by name; none before the first measurement. */
  counts(): Readonly<Record<string, number>> {
    if (!this.#hasMeasured) return {}
    const { limits } = this.#parts
    const owners = [...this.#byOwner.values()].map(({ bytes, userId }) => ({ bytes, userId, sum: sumOf(bytes) }))
    return {
      berth_homes_bytes: owners.reduce((all, { sum }) => all + sum, 0),
      berth_homes_largest_user_bytes: owners.reduce((max, { sum }) => Math.max(max, sum), 0),
      berth_homes_full_users: owners.filter(({ bytes, userId }) => limits.of(bytes, this.#extraOf(userId)).some(isFull))
        .length,
    }
  }

  /**
   * Sizes of homes of present users at the last measurement, in bytes; none before the first. One that types share counts for
   * the first of them.
   */
  *sizes(): Generator<{ readonly userId: number; readonly type: string; readonly bytes: number }> {
    const { slugOf, names } = this.#parts
    const ofShared = names.typesWith(sharedHome)[0] ?? sharedHome
    for (const { userId, slug, bytes: byType } of this.#byOwner.values()) {
      if (slugOf(userId) !== slug) continue
      for (const [type, bytes] of byType) yield { userId, type: type === sharedHome ? ofShared : type, bytes }
    }
  }

  /** Bytes of a volume that containers of several people have, at the last measurement; undefined when it has none. */
  folderBytes(volume: string): number | undefined {
    return this.#folders.get(volume)
  }

  #extraOf(userId: number): number {
    return this.#extra.get(userId) ?? 0
  }

  async #readExtra(): Promise<ReadonlyMap<number, number>> {
    return (await this.#parts.readExtra?.()) ?? this.#extra
  }

  async #measureOnce(): Promise<void> {
    const at = performance.now()
    this.#askedAt = at
    const { byOwner, missed, folders } = await this.#ask()
    // What was measured for a launch meanwhile is newer.
    const newer = [...this.#renewed].filter(([, renewed]) => renewed.at > at).map(([key]) => key)
    for (const key of newer) {
      const known = this.#byOwner.get(key)
      if (known) byOwner.set(key, known)
      else byOwner.delete(key)
    }
    this.#renewed = new Map([...this.#renewed].filter(([key]) => newer.includes(key)))
    this.#folders = folders
    this.#hasMeasured = true
    this.#measuredAt = at
    await this.#take(byOwner, this.#unmeasured.after(missed))
  }

  /** The homes of one user alone, at once. */
  async #renewOnce(owner: HomeOwner): Promise<void> {
    const at = performance.now()
    const key = ownerKey(owner)
    this.#renewed.set(key, { at, took: 0 })
    const { byOwner, missed } = await this.#ask(owner.userId)
    this.#renewed.set(key, { at, took: performance.now() - at })
    const all = new Map(this.#byOwner)
    const measured = byOwner.get(key)
    if (measured) all.set(key, measured)
    else all.delete(key)
    await this.#take(all, this.#unmeasured.after(missed, owner))
  }

  /** @param userId whose homes are measured; of all when it is left out */
  async #ask(userId?: number) {
    const { runtime, names, installation } = this.#parts
    const homes = await runtime.homes(userId)
    const shared = await names.sharedTypes()
    const sizes = await runtime.measureHomes(this.#end.signal, userId)
    const byOwner = new Map<string, HomeOwner & { bytes: Map<string, number> }>()
    const missed: OwnedHome[] = []
    for (const { volume, owner: labelled } of homes) {
      const of = shared.get(labelled.userId)
      const isShared = of !== undefined && volume === homeVolume(installation, labelled.userId, labelled.slug, of)
      const owner = isShared ? { ...labelled, type: sharedHome } : labelled
      if (sizes.get(volume) === null) missed.push(owner)
      // If the engine has no size of it this time, the last one is the best estimate.
      const size = sizes.get(volume) ?? this.bytesOf(owner).get(owner.type)
      if (size === undefined) continue
      const { slug } = owner
      const measured = byOwner.get(ownerKey(owner)) ?? { userId: owner.userId, slug, bytes: new Map<string, number>() }
      byOwner.set(ownerKey(owner), measured)
      measured.bytes.set(owner.type, (measured.bytes.get(owner.type) ?? 0) + size)
    }
    const own = new Set(homes.map(({ volume }) => volume))
    const folders = new Map(
      [...sizes].flatMap(([volume, size]): [string, number][] =>
        size === null || own.has(volume) ? [] : [[volume, size]],
      ),
    )
    return { byOwner: byOwner as Map<string, Measured>, missed, folders }
  }

  async #take(byOwner: ReadonlyMap<string, Measured>, nowUnmeasured: UnmeasuredHomes): Promise<void> {
    const [before, unmeasured, extra] = [this.#byOwner, this.#unmeasured, this.#extra]
    this.#extra = await this.#readExtra()
    this.#byOwner = byOwner
    this.#unmeasured = nowUnmeasured
    const owners = [...before.values(), ...byOwner.values(), ...unmeasured.all, ...this.#unmeasured.all]
    for (const [key, owner] of new Map(owners.map((each) => [ownerKey(each), each])))
      this.#publishChange(
        owner,
        this.#parts.limits.notices(
          before.get(key)?.bytes ?? noHomes,
          unmeasured.of(owner),
          extra.get(owner.userId) ?? 0,
        ),
      )
    for (const { userId, slug, type } of this.#unmeasured.all.filter((home) => !unmeasured.has(home)))
      this.#parts.log.warn({ userId, slug, type }, 'the engine cannot measure a home, so no disk limit counts it')
  }

  /** Publishes each new number from the first warning on, and once when the warning ends. */
  #publishChange(owner: HomeOwner, was: readonly DiskNotice[]): void {
    const { limits, log } = this.#parts
    const { userId, slug } = owner
    const now = this.#noticesOf(owner)
    const all = limits.of(this.bytesOf(owner), this.#extraOf(userId))
    for (const { measured, ...limit } of now) {
      const old = was.find(isOfSame(limit))
      if (old?.used !== limit.used || old.measured !== measured) this.#publishNotice(owner, { ...limit, measured })
      if (measured && (!old || isFull(old) !== isFull(limit)))
        log.warn(
          { userId, slug, ...limit },
          isFull(limit) ? 'as much on disk as allowed' : 'nearly as much on disk as allowed',
        )
    }
    for (const old of was)
      // A home that was deleted has no limit any more.
      if (!now.some(isOfSame(old)))
        this.#publishNotice(owner, { ...old, used: 0, ...all.find(isOfSame(old)), measured: true })
  }

  /** Homes of an earlier user with this id are not published to the present one. */
  #publishNotice({ userId, slug }: HomeOwner, notice: DiskNotice): void {
    const { slugOf, publish } = this.#parts
    if (slugOf(userId) === slug) publish(userId, toEvent(notice))
  }

  #noticesOf(owner: HomeOwner): DiskNotice[] {
    return this.#parts.limits.notices(this.bytesOf(owner), this.#unmeasured.of(owner), this.#extraOf(owner.userId))
  }

  /** Limits of the groups of a user for containers of this type; asks the store nothing while no group limits homes. */
  async #memberLimitsOf(userId: number, type: string): Promise<readonly MemberLimits[]> {
    const { rules } = this.#parts
    const found = rules.hasDiskLimits ? await rules.limitsFor({ userId, type }) : undefined
    return withExtraDisk(found ?? [], this.#extraOf(userId))
  }

  /** Whether a launch of this type waits for newer numbers although the present ones let it pass. */
  #isTooOld(owner: HomeOwner, ofGroups: readonly MemberLimits[], type: string): boolean {
    if (!this.#hasMeasured || memberRooms(ofGroups, type, noHomes, this.#typesOf).length === 0) return false
    const { at, took } = this.#renewed.get(ownerKey(owner)) ?? { at: this.#measuredAt, took: 0 }
    return took < refreshTimeout && performance.now() - at > (this.#parts.maxMemberAge ?? defaultMaxMemberAge)
  }

  /** Never throws. */
  async #renew(owner: HomeOwner): Promise<void> {
    const key = ownerKey(owner)
    await tryOrLog(this.#parts.log, 'measuring homes again before a launch', async () => {
      await this.#renewing.get(key)
      if (this.#isNew(key)) return
      const renewing = this.#renewing.get(key) ?? this.#renewOnce(owner).finally(() => this.#renewing.delete(key))
      this.#renewing.set(key, renewing)
      await renewing
    })
  }

  /** Whether the numbers of this owner are new enough for a refusal. */
  #isNew(key: string): boolean {
    const begun = Math.max(this.#renewed.get(key)?.at ?? -Infinity, this.#measuring ? -Infinity : this.#askedAt)
    return begun > this.#removedAt && performance.now() - begun < (this.#parts.maxAge ?? defaultMaxAge)
  }

  /** By the present numbers. */
  #refusalNow(owner: HomeOwner, type: string, ofGroups: readonly MemberLimits[]): Refusal | undefined {
    const limit = this.#inTheWayOf(type, owner)
    if (limit) return this.#refusal(owner, limit)
    const full = fullMemberLimit(ofGroups, type, this.bytesOf(owner), this.#parts.templates, this.#typesOf)
    if (!full) return this.#refusalBeside(owner, type, ofGroups)
    const { group, wayIn } = full
    const values = { group, used: formatBytes(full.used), max: formatBytes(full.limit) }
    const sentence = wayIn
      ? message('groups.tooMuchDiskBut', { ...values, name: wayIn.displayName })
      : message('groups.tooMuchDisk', values)
    return refusals.groupLimit('disk', group, sentence)
  }

  /** Where a home of another type is unmeasured. That type, and others that are, still start: there the owner can mend it. */
  #refusalBeside(owner: HomeOwner, type: string, ofGroups: readonly MemberLimits[]): Refusal | undefined {
    const { limits, templates, names } = this.#parts
    const unmeasured = this.#unmeasured.of(owner)
    if (unmeasured.size === 0 || unmeasured.has(names.keyOf(type))) return undefined
    const counts = (other: string) => limits.areSummed || countsTogether(ofGroups, type, other)
    const wayIn = templates
      .all()
      .find((each) => each.home !== null && unmeasured.has(names.keyOf(each.type)) && counts(each.type))
    return wayIn && refusals.homeUnmeasured(wayIn.displayName)
  }

  #refusal(owner: HomeOwner, limit: DiskLimit): Refusal {
    const { limits } = this.#parts
    const [used, max] = [formatBytes(limit.used), formatBytes(limit.limit)]
    return refusals.diskFull(used, max, limits.cleanUpTemplate(limit, this.bytesOf(owner))?.displayName)
  }

  #inTheWayOf(type: string, owner: HomeOwner): DiskLimit | undefined {
    return this.#parts.limits.blockingLimit(type, this.bytesOf(owner), this.#extraOf(owner.userId))
  }

  /** Types that have the home of this key. */
  readonly #typesOf = (key: string): readonly string[] =>
    key === sharedHome ? this.#parts.names.typesWith(sharedHome) : [key]

  /**
   * Sizes of an owner's homes at the last measurement, by type, with `sharedHome` for the one that types share; none that was
   * never measured.
   */
  bytesOf(owner: HomeOwner): HomeBytes {
    return this.#byOwner.get(ownerKey(owner))?.bytes ?? noHomes
  }
}

const noHomes: HomeBytes = new Map()

const isOfSame = (one: DiskLimit) => (other: DiskLimit) => one.type === other.type

const toEvent = (notice: DiskNotice): UserEvent => ({ name: 'disk', data: { ...notice } })

function unmeasuredWarning(all: readonly OwnedHome[]): LocalizedMessage[] {
  if (all.length === 0) return []
  const named = all
    .slice(0, maxNamed)
    .map(({ userId, slug, type }) => message('warnings.unmeasuredHome', { name: `${slug}-${type}`, userId }))
  return [message('warnings.unmeasuredHomes', { count: all.length, homes: list('semicolon', named) })]
}

interface Reached {
  readonly userId: number
  readonly slug: string
  readonly limit: DiskLimit
}

/** Slugs and numbers; an operator's page shows no addresses. */
function largest(reached: readonly Reached[]): Value {
  const first = reached.toSorted((one, other) => other.limit.used - one.limit.used).slice(0, maxNamed)
  const named = first.map(({ userId, slug, limit: { type, used, limit } }) => {
    const name = type === null ? slug : `${slug}-${type}`
    return message('warnings.home', { name, userId, used: formatBytes(used), limit: formatBytes(limit) })
  })
  const homes = list('semicolon', named)
  return reached.length > named.length ? message('warnings.theLargest', { homes }) : homes
}

/** Owner of homes. By slug as well: after an older store is restored, ids are assigned again. */
interface HomeOwner {
  readonly userId: number
  readonly slug: string
}

const ownerKey = ({ userId, slug }: HomeOwner) => `${userId} ${slug}`

/** A home by its owner and type. */
interface OwnedHome extends HomeOwner {
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
class UnmeasuredHomes {
  readonly #misses: Misses
  /** Those that count as unmeasured. */
  readonly all: readonly OwnedHome[]
  readonly #typesByOwner: ReadonlyMap<string, ReadonlySet<string>>

  constructor(misses: Misses = new Map()) {
    this.#misses = misses
    this.all = [...misses.values()].filter(({ count }) => count >= minMisses).map(({ home }) => home)
    const byOwner = Map.groupBy(this.all, ownerKey)
    this.#typesByOwner = new Map([...byOwner].map(([key, homes]) => [key, new Set(homes.map(({ type }) => type))]))
  }

  /** The state after another measurement. @param missed homes of which it has no size @param owner whose homes were measured; of all when it is left out */
  after(missed: readonly OwnedHome[], owner?: HomeOwner): UnmeasuredHomes {
    const others = owner ? [...this.#misses].filter(([, { home }]) => ownerKey(home) !== ownerKey(owner)) : []
    const miss = (home: OwnedHome) => ({ home, count: (this.#misses.get(homeKey(home))?.count ?? 0) + 1 })
    return new UnmeasuredHomes(new Map([...others, ...missed.map((home) => [homeKey(home), miss(home)] as const)]))
  }

  /** Types of an owner's homes that count as unmeasured. */
  of(owner: HomeOwner): ReadonlySet<string> {
    return this.#typesByOwner.get(ownerKey(owner)) ?? noKeys
  }

  has(home: OwnedHome): boolean {
    return this.of(home).has(home.type)
  }
}

const noKeys: ReadonlySet<string> = new Set()

const homeKey = (home: OwnedHome) => `${ownerKey(home)} ${home.type}`

/** Interval of measurements, and max delay after one that failed, in ms. */
const [defaultInterval, retryAfter] = [600_000, 60_000]
/**
 * Pause after a measurement, as a multiple of its duration. The measurement itself leaves the disk to others for four fifths of
 * its time, so that it takes a tenth of all.
 */
const restFactor = 1

/**
 * Measures homes at intervals, while a limit needs the numbers. Separate from the reconciler, whose tasks run one after
 * the other: a measurement may take minutes.
 */
export class DiskMeasurement {
  readonly #diskUse: Pick<DiskUse, 'isWanted' | 'measure' | 'close'>
  readonly #log: Pick<Logger, 'warn'>
  readonly #task: PeriodicTask<boolean>
  #isFailing = false

  /** @param interval between two measurements, in ms */
  constructor(
    diskUse: Pick<DiskUse, 'isWanted' | 'measure' | 'close'>,
    log: Pick<Logger, 'warn'>,
    interval: number = defaultInterval,
  ) {
    this.#diskUse = diskUse
    this.#log = log
    this.#task = new PeriodicTask(
      () => this.#measure(),
      (took, isDone) => Math.max(isDone ? interval : Math.min(interval, retryAfter), took * restFactor),
    )
  }

  /** Measures now and at intervals, unless it does already; never, when no limit is set. To be called when one is. */
  start(): void {
    if (this.#diskUse.isWanted) this.#task.start()
  }

  /** Cancels a measurement in progress; resolves when it has ended. */
  async stop(): Promise<void> {
    const ended = this.#task.stop()
    this.#diskUse.close()
    await ended
  }

  /** Never throws. @returns whether it succeeded */
  async #measure(): Promise<boolean> {
    try {
      await this.#diskUse.measure()
      this.#isFailing = false
      return true
    } catch (error) {
      // Logged once: an engine that cannot measure at all would repeat it every minute.
      if (!this.#task.isStopped && !this.#isFailing)
        this.#log.warn({ err: error }, 'homes could not be measured; the measurement is retried at intervals')
      this.#isFailing = true
      return false
    }
  }
}
