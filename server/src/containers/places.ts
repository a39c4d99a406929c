import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { within } from '#/attempt.ts'
import type { Absence, Change, Person, Place } from '#/gateway/gateway.ts'
import { OneAtATime } from '#/one-at-a-time.ts'
import { RuntimeError, type Instance, type Runtime, type RuntimeEvent } from '#/runtime/runtime.ts'
import type { Db } from '#/store/database.ts'
import { listContainersOf, listContainersOfAll, type UserContainer } from '#/store/user-containers.ts'
import { findUser, listPeople, type User } from '#/store/users.ts'
import { EnginePulse } from './engine-pulse.ts'
import { absence, isThere, whereIs, type KnownContainer } from './known-container.ts'
import { isOtherThan, isToBeExplained, isUp, type Seen } from './listed.ts'
import { Looks } from './looks.ts'
import type { OwnedType } from './owned-type.ts'
import { allKinds, kindOf, type Kind } from './picture.ts'
import { Registry, type Entry } from './registry.ts'
import { Teller, type TellerParts } from './teller.ts'
import type { Templates } from './template.ts'
import { Unanswered } from './unanswered.ts'

/** Users read from the store at a time; others get their turn in between. */
const pageSize = 200
/** Containers looked at, at the same time, when many have to be. */
const parallelLooks = 8
/** How long a list may take before what should run is asked for one by one meanwhile, in ms. */
const slowList = 3_000
/** How long the start waits for what the engine says, in ms; until it is known, what is asked for is looked at then. */
const startLimit = 6_000
/** How long a list of all may take at the start before what is up is listed by itself, in ms: an engine with few is done. */
const quickList = 400
/** For how long a list may be behind a program's end, in ms; then a second list is right about what the first one missed. */
const listLag = 1_000
/** Looks at one container that change overtook before one is believed no more and left to the next event. */
const mostRepeats = 20
/** Of more that were not seen yet, as after the engine came back, one list tells instead of a question for each. */
const maxUnseen = 20

export interface PlacesParts extends TellerParts {
  readonly db: Db
  readonly runtime: Runtime
  readonly templates: Templates
  /** Called when a container's status is another than was told before; must not throw. */
  readonly onStatus: (container: KnownContainer, status: PlaceStatus) => void
  /** Called when somebody is blocked or gone; must not throw. */
  readonly onShutOut: (userId: number) => void
  /** Called when there is no record of a container any more; must not throw. */
  readonly onGone: (owned: OwnedType) => void
}

/** Whoever wants to hear of the engine what places hear; must not throw. */
export interface EngineListener {
  /** @param known the container that it is about, before anything follows from it; undefined when no record names it */
  onEvent(event: RuntimeEvent, known: KnownContainer | undefined): void
  /** The engine, which did not answer, answers again. */
  onEngineFound(): void
}

/** A place in one word. */
export type PlaceStatus = 'blocked' | Kind

/**
 * Keeps the gateway's picture true: where every container is, and who there is.
 * - The truth is asked for (store by user, engine by container id), never made up from events: these only say when.
 * - An event that a program ended takes its address away before anything else is asked: the engine gives it on at once.
 * - An answer counts only when nothing was heard since it was asked for; otherwise it is asked for again.
 * - A container that the engine does not answer about is unknown by itself; only pings tell of the engine as a whole.
 * - Changes are worked out and sent in one go, without a pause in between, so that they arrive in the order of the answers.
 */
export class Places {
  readonly #parts: PlacesParts
  readonly #teller: Teller
  readonly #pulse: EnginePulse
  readonly #registry = new Registry()
  readonly #statuses = new Map<string, PlaceStatus>()
  readonly #reads = new OneAtATime()
  readonly #looks = new Looks((id) => this.#lookAt(id))
  /** One sweep at a time, however many ask for one. */
  readonly #sweeps = new Looks(() => this.#sweep())
  readonly #unanswered = new Unanswered({
    retry: (id) => this.#lookAtEach([id]),
    onUnknown: (id) => this.#becomeUnknown(id),
  })
  #listener: EngineListener | undefined
  #signal: AbortSignal | undefined
  /** Whether events may have been missed since the last sweep began. */
  #hasMissed = true
  #lastRead: { readonly at: number; readonly took: number } | undefined
  /** Counts questions and what was heard, so that it can be said which came first. */
  #clock = 0

  constructor(parts: PlacesParts) {
    this.#parts = parts
    this.#teller = new Teller(parts)
    this.#pulse = new EnginePulse(parts.runtime, { onLost: () => this.#lose(), onFound: () => this.#find() })
  }

  /** What is known of the container with this first path segment. */
  find(prefix: string): KnownContainer | undefined {
    return this.#registry.byPrefix(prefix)?.known
  }

  get(owned: OwnedType): KnownContainer | undefined {
    return this.#registry.get(owned)?.known
  }

  /** What the gateway was told of it. */
  placeOf({ prefix }: KnownContainer): Place | undefined {
    return this.#teller.picture.place(prefix)
  }

  /** Those of these kinds, as the gateway was told; or all others, when they are fewer. */
  fewerOfKinds(kinds: ReadonlySet<Kind>): { readonly containers: KnownContainer[]; readonly areOthers: boolean } {
    const { picture } = this.#teller
    const count = [...kinds].reduce((sum, kind) => sum + picture.ofKind(kind).size, 0)
    const areOthers = count > picture.size / 2
    const wanted = allKinds.filter((kind) => kinds.has(kind) !== areOthers)
    const prefixes = wanted.flatMap((kind) => [...picture.ofKind(kind)])
    return { containers: prefixes.flatMap((prefix) => this.find(prefix) ?? []), areOthers }
  }

  /** What `onStatus` was told last of each container of somebody's; what the gateway was told, where that was nothing yet. */
  statusesOf(userId: number): { readonly type: string; readonly status: PlaceStatus }[] {
    return this.#registry.typesOf(userId).flatMap((type) => {
      const known = this.get({ userId, type })
      const place = known && this.placeOf(known)
      return known && place ? [{ type, status: this.#statuses.get(known.prefix) ?? statusOf(place) }] : []
    })
  }

  /** What the gateway was told of somebody. */
  personOf({ userId }: Pick<OwnedType, 'userId'>): Person | undefined {
    return this.#teller.picture.person(userId)
  }

  /** Those that run or are paused, as the gateway was told; costs nothing for what does neither. */
  *running(): Generator<{ readonly known: KnownContainer; readonly isPaused: boolean }> {
    for (const kind of ['running', 'paused'] as const)
      for (const prefix of this.#teller.picture.ofKind(kind)) {
        const known = this.find(prefix)
        if (known) yield { known, isPaused: kind === 'paused' }
      }
  }

  /** Whether the gateway was told that it runs or is paused. */
  isRunning(owned: OwnedType): boolean {
    const known = this.get(owned)
    const where = known && this.placeOf(known)?.where
    return where !== undefined && isThere(where)
  }

  /** Whether the gateway was told that the engine, as a whole or about this one, does not answer. */
  isUnknown(known: KnownContainer): boolean {
    const where = this.placeOf(known)?.where
    return where !== undefined && !isThere(where) && where.absent === 'unknown'
  }

  /** What is known of the container with this id of the engine. */
  withId(containerId: string): KnownContainer | undefined {
    return this.#registry.byId(containerId)?.known
  }

  /** Whether the engine answers, and its events are heard. */
  get isEngineAnswering(): boolean {
    return !this.#pulse.isLost
  }

  /** From the next event on; one listener. */
  listen(listener: EngineListener): void {
    this.#listener = listener
  }

  /**
   * Says everything, in one step, and follows the engine from then on. When the engine does not answer, all places are
   * `unknown` until it does. @param signal ends the following @throws when the store or the gateway fails
   */
  async publishAll(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#unanswered.stop(), { once: true })
    await this.#readAll()
    this.#parts.runtime.watch((event) => this.#hear(event), signal)
    await within(startLimit, this.#sweepFirst())
    for (const entry of this.#registry.entries()) this.#changesOf(entry)
    await this.#teller.tellAll(signal)
    void this.#pulse.follow(signal)
  }

  /** Reads all users and records, and tells what is not as it was told. @throws as above */
  async readAll(): Promise<void> {
    await this.#readAll()
  }

  /** When all users and records were read last, by `performance.now()`, and how long that took, in ms; undefined when the last read failed. */
  get lastRead(): { readonly at: number; readonly took: number } | undefined {
    return this.#lastRead
  }

  /**
   * Looks at what a list says otherwise than it was told. The list may be some seconds old, so nothing of it is believed.
   * @param list what the engine has; unless it is full, of what runs, is paused or restarts alone
   * @throws as above; {RuntimeError} when much was missed or not seen yet, and the engine does not answer another list
   */
  async refresh(list: { readonly instances: readonly Instance[]; readonly isFull: boolean }): Promise<void> {
    const listed = new Map(list.instances.map((instance) => [instance.id, instance]))
    const seenOf = (id: string) => this.#registry.byId(id)?.known.seen
    const ids = list.isFull ? this.#registry.ids() : this.#idsBesides(listed)
    const unseen = ids.filter((id) => seenOf(id) === undefined && !this.#unanswered.has(id))
    // Also when the list of the last sweep was not answered.
    if (this.#hasMissed) await this.#sweeps.look('all')
    // The first run of the reconciler comes while the start's sweep is under way, which tells all there is.
    else if (unseen.length > maxUnseen) await this.#sweeps.join('all')
    await this.#lookAtEach(this.#notAsListed(ids, listed))
  }

  /** Of what is known to run, and of what is said to. */
  #idsBesides(listed: ReadonlyMap<string, Instance>): string[] {
    const ids = new Set([...listed.keys()].filter((id) => this.#registry.byId(id)))
    for (const { known } of this.running()) if (known.containerId !== null) ids.add(known.containerId)
    return [...ids]
  }

  /** What the store says of a user and their records. @throws when the store or the gateway fails */
  async publishPerson(userId: number): Promise<void> {
    await this.#reads.run(String(userId), async () => {
      const asOf = ++this.#clock
      const { db } = this.#parts
      const [user, records] = await Promise.all([findUser(db, userId), listContainersOf(db, userId)])
      await this.#teller.tell(this.#takeIn(userId, user, records, asOf))
    })
  }

  /**
   * What store and engine say of a container. When it resolves the gateway follows; when the engine does not answer, the
   * place stays as it was, and is looked at again once it does.
   * @param outcome of a launch: why it failed, or that it did not; remembered until the next one
   * @throws when the store or the gateway fails
   */
  async publishContainer(owned: OwnedType, outcome?: { readonly failure: Absence | undefined }): Promise<void> {
    await this.publishPerson(owned.userId)
    const entry = this.#registry.get(owned)
    if (!entry) return
    if (outcome) entry.known = { ...entry.known, failure: outcome.failure }
    if (entry.known.containerId === null) await this.#teller.tell(this.#changesOf(entry))
    else await this.#looks.look(entry.known.containerId)
  }

  /**
   * As `publishContainer`, and says it although it may be as it was: so ends a hold of the gateway's. It ends also when the
   * store fails: then what is known already is said. @throws as `publishContainer`
   */
  async publishAnew(owned: OwnedType): Promise<void> {
    try {
      await this.publishContainer(owned)
    } finally {
      await this.tellAnew(owned)
    }
  }

  /** Says what is known, without asking store or engine. @throws when the gateway fails; all is said anew soon then */
  async tellAnew(owned: OwnedType): Promise<void> {
    const entry = this.#registry.get(owned)
    if (entry) await this.#teller.tell(this.#changesOf(entry, { isAnew: true }))
  }

  /** As `publishContainer`, for who knows that nothing has changed in the store. */
  async look({ containerId }: KnownContainer): Promise<void> {
    if (containerId !== null) await this.#looks.look(containerId)
  }

  /** Resolves when no look at it is under way. */
  async settled({ containerId }: KnownContainer): Promise<void> {
    if (containerId !== null) await this.#looks.settled(containerId)
  }

  /** For `expect`. */
  now(): number {
    return this.#clock
  }

  /**
   * Tells what the engine has just confirmed that it did, without asking it once more. Nothing is told when the program
   * ended since. @param since `now()` before the engine was asked to do it
   */
  async expect(owned: OwnedType, state: 'running' | 'paused', since: number): Promise<void> {
    const entry = this.#registry.get(owned)
    const seen = entry?.known.seen
    if (!entry || !seen || seen === 'gone' || seen.address === null || entry.endedAt > since) return
    entry.asOf = ++this.#clock
    entry.known = { ...entry.known, seen: { ...seen, state } }
    await this.#teller.tell(this.#changesOf(entry))
  }

  // --- The engine

  #hear(event: RuntimeEvent): void {
    const { id, action } = event
    this.#listener?.onEvent(event, id === undefined ? undefined : this.withId(id))
    if (action === 'lost') return this.#pulse.hears(false)
    if (id === undefined) return this.#hearAgain()
    const entry = this.#registry.byId(id)
    // What no record names concerns no place; its launch publishes it.
    if (!entry) return
    entry.asOf = ++this.#clock
    if (action === 'die' || action === 'destroy') this.#takeAddressAway(entry)
    // Our own doing, told already: a look would only take CPU from the first request after a wake.
    if (isKnownFrom(action, entry)) return
    this.#looks.look(id).catch((error: unknown) => this.#parts.report(error, 'publishing after an event'))
  }

  #takeAddressAway(entry: Entry): void {
    entry.endedAt = this.#clock
    const { seen } = entry.known
    if (!seen || seen === 'gone') return
    entry.known = { ...entry.known, seen: { ...seen, state: justEnded, address: null } }
    this.#teller.tellLater(this.#changesOf(entry))
  }

  /** Anything may have changed while nothing was heard. When the engine was lost, all is looked at once it is found. */
  #hearAgain(): void {
    this.#pulse.hears(true)
    this.#hasMissed = true
    for (const entry of this.#registry.entries()) entry.asOf = ++this.#clock
    if (!this.#pulse.isLost) this.#sweepLater()
  }

  /** Nothing that the engine ever said counts any more. */
  #lose(): void {
    const asOf = ++this.#clock
    this.#unanswered.clear()
    for (const entry of this.#registry.entries()) {
      entry.asOf = asOf
      entry.before = entry.known.seen ?? entry.before
      entry.known = { ...entry.known, seen: undefined }
    }
    this.#teller.tellLater([...this.#registry.entries()].flatMap((entry) => this.#changesOf(entry)))
  }

  #find(): void {
    this.#listener?.onEngineFound()
    this.#sweepLater()
  }

  #becomeUnknown(id: string): void {
    const entry = this.#registry.byId(id)
    if (!entry || this.#pulse.isLost) return
    entry.known = { ...entry.known, seen: undefined }
    this.#teller.tellLater(this.#changesOf(entry))
  }

  // --- Sweeps: all containers at once

  #sweepLater(): void {
    this.#sweeps.look('all').catch((error: unknown) => this.#parts.report(error, 'looking at all containers'))
  }

  /**
   * As `sweep`, at the start: an engine that answers nothing is lost at once. When the list of all takes long, what is up is
   * enough: what sleeps is published as asleep until that list comes. Never rejects.
   */
  async #sweepFirst(): Promise<void> {
    const askedAt = performance.now()
    const sweep = this.#sweeps.look('all').catch((error: unknown) => {
      this.#parts.report(error, 'asking the engine which containers there are')
      if (!this.#teller.hasBegun) this.#pulse.giveUp(askedAt)
    })
    const isQuick = await within(
      quickList,
      sweep.then(Boolean, Boolean).then(() => true),
    )
    if (!isQuick) await Promise.race([sweep, this.#sweepUp()])
  }

  /** Takes in what is up, and waits for the list of all where that fails, which says more. Never rejects. */
  async #sweepUp(): Promise<void> {
    const asOf = ++this.#clock
    const up = await this.#parts.runtime.list({ isUp: true }).catch(() => undefined)
    if (up) await this.#takeUp(up, asOf)
    else await this.#sweeps.settled('all').catch(() => undefined)
  }

  /** Takes in what a list of what is up says of what was not seen yet. */
  async #takeUp(up: readonly Instance[], asOf: number): Promise<void> {
    if (this.#pulse.isLost) return
    const changes = up.flatMap((listed) => {
      const entry = this.#registry.byId(listed.id)
      const isDue = entry && entry.known.seen === undefined && entry.asOf <= asOf && !this.#unanswered.has(listed.id)
      return isDue ? this.#see(entry, listed, asOf) : []
    })
    await this.#teller.tell(changes)
  }

  /**
   * One list first, which says what has changed; only that is looked at. What was not asked for yet is believed as it is
   * listed. While a list is slow, what should run is asked for one by one, so that nobody waits for it.
   * @throws {RuntimeError} when the list is not answered
   */
  async #sweep(): Promise<void> {
    const asOf = ++this.#clock
    const hasMissed = this.#hasMissed
    this.#hasMissed = false
    const listing = this.#list()
    // Whether it failed is seen below.
    const isSlow = (await within(slowList, listing.then(Boolean, Boolean))) === undefined
    if (isSlow) await this.#lookAtEachUntil(listing, this.#idsOfUnseen())
    const listed = await listing.catch((error: unknown) => {
      // What was missed is still to be looked at, by the next sweep.
      this.#hasMissed ||= hasMissed
      throw error
    })
    await this.#takeList(listed, asOf)
    if (hasMissed) void this.#checkUp(listed)
  }

  /**
   * For a moment a list says of a program that has ended that it runs, with its address. An inspect is right; of many, a
   * second list is, which costs the engine far less than thousands of inspects. Never rejects.
   */
  async #checkUp(listed: ReadonlyMap<string, Instance>): Promise<void> {
    const up = [...listed.values()].filter(isUp).map(({ id }) => id)
    const known = up.filter((id) => this.#registry.byId(id) && !this.#unanswered.has(id))
    if (known.length <= maxUnseen) return this.#lookAtEach(known)
    await sleep(listLag, undefined, { signal: this.#signal, ref: false }).catch(() => undefined)
    if (this.#signal?.aborted || this.#pulse.isLost) return
    try {
      await this.#lookAtOthersThan(await this.#parts.runtime.list({ isUp: true }))
    } catch (error) {
      this.#parts.report(error, 'asking the engine a second time what is up')
      // The next sweep begins with what was missed, as if this one had not been.
      this.#hasMissed = true
    }
  }

  /** Looks at what is known to be up, or listed as up, and is not as it is listed. */
  async #lookAtOthersThan(up: readonly Instance[]): Promise<void> {
    const listed = new Map(up.map((instance) => [instance.id, instance]))
    await this.#lookAtEach(this.#notAsListed(this.#idsBesides(listed), listed))
  }

  #notAsListed(ids: readonly string[], listed: ReadonlyMap<string, Instance>): string[] {
    const seenOf = (id: string) => this.#registry.byId(id)?.known.seen
    return ids.filter((id) => !this.#unanswered.has(id) && isOtherThan(seenOf(id), listed.get(id)))
  }

  /** What should run, as far as the store tells, and was not seen. */
  #idsOfUnseen(): string[] {
    const unseen = [...this.#registry.entries()].filter(({ known: { seen, wasStopped } }) => !seen && !wasStopped)
    return unseen.flatMap(({ known: { containerId: id } }) => (id === null || this.#unanswered.has(id) ? [] : id))
  }

  async #takeList(listed: ReadonlyMap<string, Instance>, asOf: number): Promise<void> {
    if (this.#pulse.isLost) return
    const changes: Change[] = []
    const due: string[] = []
    for (const entry of this.#registry.entries()) {
      const id = entry.known.containerId
      // What was heard since leads to a look of its own, or to another sweep.
      if (id === null || entry.asOf > asOf || this.#unanswered.has(id)) continue
      const taken = this.#takeListed(entry, listed.get(id), asOf)
      changes.push(...taken.changes)
      if (taken.isDue) due.push(id)
    }
    await this.#teller.tell(changes)
    await this.#lookAtEach(due)
  }

  /** @returns whether it has to be looked at, for the list does not say enough */
  #takeListed(entry: Entry, listed: Instance | undefined, asOf: number): { changes: Change[]; isDue: boolean } {
    const { known, before } = entry
    const see = (seen: Seen, isDue: boolean) => ({ changes: this.#see(entry, seen, asOf), isDue })
    if (known.seen !== undefined) {
      // Its address may be another's by now, whatever the look says.
      if (isUp(known.seen) && !isUp(listed)) this.#takeAddressAway(entry)
      return { changes: [], isDue: isOtherThan(known.seen, listed) }
    }
    if (before !== undefined && !isOtherThan(before, listed)) return see(before, false)
    // Made after the list was asked for, perhaps.
    if (!listed) return this.#teller.hasBegun ? { changes: [], isDue: true } : see('gone', true)
    return see(listed, before !== undefined || isToBeExplained(known, listed))
  }

  /** Takes in what the engine said of it. */
  #see(entry: Entry, seen: Seen, asOf: number): Change[] {
    entry.asOf = asOf
    entry.before = undefined
    entry.known = { ...entry.known, seen }
    return this.#changesOf(entry)
  }

  // --- Looks: one container

  /** As `#lookAtEach`, but nothing more is begun once the list has come, which says what is left to be looked at. */
  async #lookAtEachUntil(listing: Promise<unknown>, ids: string[]): Promise<void> {
    const clear = () => void (ids.length = 0)
    listing.then(clear, clear)
    await this.#lookAtEach(ids)
  }

  /** Never throws; what could not be looked at stays, and is looked at again when the engine answers. */
  async #lookAtEach(ids: string[]): Promise<void> {
    const worker = async () => {
      for (let id = ids.pop(); id !== undefined && !this.#signal?.aborted; id = ids.pop()) {
        await this.#looks.look(id).catch((error: unknown) => this.#parts.report(error, 'looking at a container'))
      }
    }
    await Promise.all(Array.from({ length: parallelLooks }, worker))
  }

  async #lookAt(id: string): Promise<void> {
    for (let repeats = 0; repeats < mostRepeats; repeats++) {
      if (repeats > 0) this.#looks.renew(id)
      const asOf = ++this.#clock
      const seen = await this.#ask(id)
      const entry = this.#registry.byId(id)
      if (seen !== undefined || !entry) this.#unanswered.answered(id)
      if (seen === undefined || !entry || this.#pulse.isLost) return
      if (entry.asOf > asOf) continue
      if (isBeingStopped(entry.known, seen)) return
      return this.#teller.tell(this.#see(entry, seen, asOf))
    }
  }

  /** @returns undefined when the engine could not be asked */
  async #ask(id: string): Promise<Seen | undefined> {
    const askedAt = performance.now()
    try {
      return (await this.#parts.runtime.inspectId(id)) ?? 'gone'
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error
      if (error.kind !== 'unreachable') this.#parts.report(error, 'looking at a container')
      // Of an engine that is lost nothing is asked again but pings.
      else if (!this.#pulse.isLost) this.#unanswered.failed(id, askedAt)
      return undefined
    }
  }

  async #list(): Promise<Map<string, Instance>> {
    return new Map((await this.#parts.runtime.list()).map((instance) => [instance.id, instance]))
  }

  // --- The store

  /** Page by page; what a page changes is told at once, because later it might come after something newer. */
  async #readAll(): Promise<void> {
    const began = performance.now()
    this.#lastRead = undefined
    const found = new Set<number>()
    for (let after = 0, isLast = false; !isLast;) {
      const asOf = ++this.#clock
      const users = await listPeople(this.#parts.db, { limit: pageSize, after })
      await this.#readPage(users, asOf)
      for (const { id } of users) found.add(id)
      isLast = users.length < pageSize
      after = users.at(-1)?.id ?? after
      // SQLite answers at once, so that without this nothing else would run until the last page.
      await turn()
    }
    // Gone, or new since their page was read.
    for (const userId of this.#registry.ownerIds()) if (!found.has(userId)) await this.publishPerson(userId)
    const now = performance.now()
    this.#lastRead = { at: now, took: now - began }
  }

  async #readPage(users: readonly User[], asOf: number): Promise<void> {
    const ids = users.map(({ id }) => id)
    const records = Map.groupBy(await listContainersOfAll(this.#parts.db, ids), ({ userId }) => userId)
    // Of an owner who was deleted meanwhile nothing is left that would tell that this page is older; they are read alone.
    const isKnown = ({ id }: User) => !this.#teller.hasBegun || this.#registry.hasOwner(id)
    const changes = users
      .filter(isKnown)
      .flatMap((user) => this.#takeIn(user.id, user, records.get(user.id) ?? [], asOf))
    const strangers = users.filter((user) => !isKnown(user))
    await this.#teller.tell(changes)
    for (const { id } of strangers) await this.publishPerson(id)
  }

  #takeIn(userId: number, user: User | undefined, records: readonly UserContainer[], asOf: number): Change[] {
    if (!this.#registry.takeOwner(userId, asOf)) return []
    if (!user || (user.state === 'registered' && records.length === 0)) return this.#forget(userId)
    if (user.isBlocked) this.#parts.onShutOut(userId)
    const configured = records.filter(({ type }) => this.#parts.templates.get(type))
    const types = new Set(configured.map(({ type }) => type))
    const gone = this.#registry.typesOf(userId).filter((type) => !types.has(type))
    return [
      ...this.#teller.picture.putPerson(personOf(user)),
      ...gone.flatMap((type) => this.#remove({ userId, type })),
      ...configured.flatMap((record) => this.#changesOf(this.#registry.put(user, record))),
    ]
  }

  #forget(userId: number): Change[] {
    this.#parts.onShutOut(userId)
    const places = this.#registry.typesOf(userId).flatMap((type) => this.#remove({ userId, type }))
    this.#registry.removeOwner(userId)
    return [...places, ...this.#teller.picture.removePerson(userId)]
  }

  #remove(owned: OwnedType): Change[] {
    const prefix = this.#registry.remove(owned)
    if (prefix === undefined) return []
    this.#statuses.delete(prefix)
    this.#parts.onGone(owned)
    return this.#teller.picture.removePlace(prefix)
  }

  // --- The gateway

  #changesOf(entry: Entry, { isAnew = false } = {}): Change[] {
    const place = this.#toPlace(entry.known)
    const changes = this.#teller.picture.putPlace(place, isAnew)
    this.#lookAtLosers(changes, place.prefix)
    if (isSettled(entry.known)) this.#noteStatus(entry.known, place)
    return changes
  }

  #toPlace(known: KnownContainer): Place {
    const { userId, type, prefix, isBlocked } = known
    return { prefix, ownerId: userId, type: encodeURIComponent(type), isBlocked, where: this.#where(known) }
  }

  /** Of a container that was not asked for yet nothing new is said: it stays absent, or where the same one was. */
  #where(known: KnownContainer): Place['where'] {
    const { containerId, seen, prefix } = known
    if (containerId === null || seen !== undefined) return whereIs(known)
    if (this.#pulse.isLost || this.#unanswered.isUnknown(containerId)) return absence('unknown')
    const told = this.#teller.picture.place(prefix)?.where
    return told && (!isThere(told) || told.containerId === containerId) ? told : absence('asleep')
  }

  #lookAtLosers(changes: readonly Change[], winner: string): void {
    for (const change of changes) {
      const loser = change.kind === 'place' && change.place.prefix !== winner ? change.place.prefix : undefined
      const id = loser && this.#registry.byPrefix(loser)?.known.containerId
      if (id) void this.#lookAtEach([id])
    }
  }

  #noteStatus(known: KnownContainer, place: Place): void {
    const status = statusOf(place)
    if (this.#statuses.get(known.prefix) === status) return
    this.#statuses.set(known.prefix, status)
    this.#parts.onStatus(known, status)
  }
}

/** Stands for the engine's word until a container whose end was heard is looked at again. */
const justEnded = 'ended'

/**
 * Whether the engine has said how it is. Of an end it was only heard, for as long as the look at it is under way: whatever
 * publishes meanwhile, such as another launch of the same person, must not tell an end without its exit code.
 */
const isSettled = ({ seen }: KnownContainer) => seen !== undefined && (seen === 'gone' || seen.state !== justEnded)

const statusOf = (place: Place): PlaceStatus => (place.isBlocked ? 'blocked' : kindOf(place))

const personOf = ({ id, slug, email, isBlocked, createdAt }: User): Person => ({
  userId: id,
  slug,
  email,
  isBlocked,
  createdAt: createdAt.getTime(),
})

/** Whether an event says nothing but what was confirmed before it came. */
function isKnownFrom(action: RuntimeEvent['action'], { known: { seen } }: Entry): boolean {
  if (!seen || seen === 'gone') return false
  return (action === 'pause' && seen.state === 'paused') || (action === 'unpause' && seen.state === 'running')
}

/**
 * The engine lets a paused program run for the moment that its stop takes. On a slow machine a look fell into that moment:
 * its owner was told that it runs, and requests were let through to what was about to end.
 */
function isBeingStopped({ seen, wasStopped }: KnownContainer, answer: Instance | 'gone'): boolean {
  const wasPaused = seen !== undefined && seen !== 'gone' && seen.state === 'paused'
  return wasStopped && wasPaused && answer !== 'gone' && answer.state === 'running'
}
