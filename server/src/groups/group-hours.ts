import { isDeepStrictEqual } from 'node:util'
import pLimit, { type LimitFunction } from 'p-limit'
import type { Logger } from 'pino'
import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { IdleWarnings, Prestart } from '#/containers/open-containers.ts'
import { isTimeZone } from '#/machine/time-zone.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { listMemberIds, listMembers } from '#/store/group-members.ts'
import { setTimetable, type CountedGroup, type Group, type Timetable } from '#/store/groups.ts'
import { covers, isExpired, type GroupDirectory } from '#/templates/group-directory.ts'
import type { Templates } from '#/templates/template.ts'
import { containersInUse, type ContainersInUseParts } from './group-containers.ts'
import { requireManaged } from './managed-group.ts'
import { dueBetween, lead, type DueAction } from './timetable.ts'

/** Between two checks, in ms. */
const checkInterval = 10_000
/** Members that are read at once. */
const pageSize = 200
/** How long a stop that failed is repeated, in ms. */
const repeatTime = 30 * 60_000

export interface GroupHoursParts extends ContainersInUseParts {
  readonly directory: Pick<GroupDirectory, 'timed'>
  readonly templates: Pick<Templates, 'get'>
  /** Containers that are stopped at the same time, see `maxParallelStops`. */
  readonly parallelStops: number
  readonly prestart: Pick<Prestart, 'run'>
  /** Stops one and cancels its launch; false when it did not run. */
  readonly stop: (owned: ContainerRef) => Promise<boolean>
  readonly warnings: Pick<IdleWarnings, 'warnOfLimit' | 'endOfLimit'>
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** A stop that is not done yet: it is under way, or failed, such as because the engine was away. */
interface DueStop {
  readonly owned: ContainerRef
  readonly group: Group
  /** When it is given up, in ms since 1970. */
  readonly until: number
  /** Or waits for others. */
  isUnderWay: boolean
  hasFailed: boolean
}

/** A stop of which owners are warned. */
interface Warned {
  readonly groupId: number
  /** ms since 1970 */
  readonly at: number
  /** Containers whose owners were warned. */
  readonly all: ContainerRef[]
}

/**
 * Hours of groups: starts containers of members before lessons, and stops them at night. What became due within `lead` before
 * the start of Berth is done then. A stop that failed is repeated by each check, for half an hour and unless the container is
 * started meanwhile. Without a timetable there is no timer.
 */
export class GroupHours {
  readonly #parts: GroupHoursParts
  readonly #limit: LimitFunction
  /** By `containerKey`; those that failed are repeated, because the engine's return restores their containers. */
  readonly #dueStops = new Map<string, DueStop>()
  readonly #warned = new Set<Warned>()
  #timer: NodeJS.Timeout | undefined
  #checkedAt: number | undefined
  #hasBegun = false
  #isClosed = false

  constructor(parts: GroupHoursParts) {
    this.#parts = parts
    this.#limit = pLimit(parts.parallelStops)
  }

  /** Starts the checks, or starts them anew because groups have changed. */
  start(): void {
    // Only the start of Berth makes up for what was missed: the first hours of a group do not concern the time before they are set.
    if (this.#hasBegun && !this.#timer) this.#checkedAt = this.#parts.now()
    this.#hasBegun = true
    this.#endWarnings(({ groupId, at }) => !this.#isStopAt(groupId, at))
    clearInterval(this.#timer)
    this.#timer = undefined
    if (this.#isClosed || this.#parts.directory.timed.length === 0) return
    this.#timer = setInterval(() => this.check(), checkInterval).unref()
    this.check()
  }

  /** Nothing begins afterwards. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#limit.clearQueue()
  }

  /** Begins what has become due since the last check; of a longer time, such as after a jump of the clock, the last `lead`. */
  check(): void {
    const until = this.#parts.now()
    const after = Math.max(this.#checkedAt ?? 0, until - lead)
    this.#checkedAt = until
    this.#repeatFailed(until)
    for (const group of this.#parts.directory.timed) {
      if (!group.timetable || isExpired(group, new Date(until))) continue
      for (const action of dueBetween(group.timetable, after, until)) void this.#take(group, action)
    }
  }

  /** This container is being started: no stop of before concerns it any more. */
  noteStart(owned: ContainerRef): void {
    this.#dueStops.delete(containerKey(owned))
  }

  /** Never throws. */
  async #take(group: Group, action: DueAction): Promise<void> {
    const { log } = this.#parts
    try {
      if (action.kind === 'prestart') await this.#startAll(group, action.type)
      else if (action.kind === 'warn') await this.#warnAll(group, action.at)
      else await this.#stopAll(group)
    } catch (err) {
      log.warn({ err, group: group.id, action: action.kind }, 'hours of a group failed')
    }
  }

  /** Starts those of members who are not managers, as long as there is room. */
  async #startAll(group: Group, type: string): Promise<void> {
    const { db, templates, prestart, log } = this.#parts
    const template = covers(group, type) ? templates.get(type) : undefined
    if (!template) return log.warn({ group: group.id, type }, 'a timetable names a type that the group does not have')
    for (let after = 0; !this.#isClosed;) {
      const page = await listMembers(db, group.id, { limit: pageSize, after })
      const users = page.filter(({ user, role }) => role === 'member' && !user.isBlocked).map(({ user }) => user)
      for (const { id } of users) this.noteStart({ userId: id, type })
      const started = await Promise.all(users.map((user) => prestart.run(user, template)))
      after = page.at(-1)?.user.id ?? after
      if (page.length < pageSize || started.includes(false)) return
    }
  }

  /** Works on the containers of all members that are of the group's types. */
  async #forEachContainer(group: Group, work: (owned: ContainerRef) => Promise<void>): Promise<void> {
    const { db, occupantsOf } = this.#parts
    for (let after = 0; !this.#isClosed;) {
      const ids = await listMemberIds(db, group.id, { limit: pageSize, after })
      await this.#limit.map(await containersInUse({ db, occupantsOf }, group, ids), work)
      after = ids.at(-1) ?? after
      if (ids.length < pageSize) return
    }
  }

  async #warnAll(group: Group, at: number): Promise<void> {
    const { warnings, now } = this.#parts
    // A stop that is made up for follows at once, without a warning.
    if (at <= now()) return
    const warned: Warned = { groupId: group.id, at, all: [] }
    this.#warned.add(warned)
    await this.#forEachContainer(group, async (owned) => {
      // The hours may have changed meanwhile.
      if (!this.#warned.has(warned)) return
      warned.all.push(owned)
      warnings.warnOfLimit(owned, 'hours', new Date(at))
    })
  }

  /** Ends the warnings, also of what could not be stopped. */
  async #stopAll(group: Group): Promise<void> {
    try {
      await this.#forEachContainer(group, (owned) => this.#stop(owned, group))
    } finally {
      this.#endWarnings(({ groupId, at }) => groupId === group.id && at <= this.#parts.now())
    }
  }

  #endWarnings(isMeant: (warned: Warned) => boolean): void {
    for (const warned of this.#warned) {
      if (!isMeant(warned)) continue
      this.#warned.delete(warned)
      for (const owned of warned.all) this.#parts.warnings.endOfLimit(owned, 'hours')
    }
  }

  /** Whether the present hours of the group stop its containers then. */
  #isStopAt(groupId: number, at: number): boolean {
    const group = this.#parts.directory.timed.find(({ id }) => id === groupId)
    if (!group?.timetable || isExpired(group, new Date(at))) return false
    return dueBetween(group.timetable, at - 1, at).some(({ kind }) => kind === 'stop')
  }

  async #stop(owned: ContainerRef, group: Group): Promise<void> {
    const until = this.#parts.now() + repeatTime
    const due: DueStop = { owned, group, until, isUnderWay: true, hasFailed: false }
    this.#dueStops.set(containerKey(owned), due)
    await this.#attempt(due)
  }

  #repeatFailed(now: number): void {
    for (const [key, due] of this.#dueStops) {
      if (due.isUnderWay) continue
      if (now > due.until || !this.#isStillAsked(due)) this.#dueStops.delete(key)
      else {
        due.isUnderWay = true
        void this.#limit(() => this.#attempt(due))
      }
    }
  }

  /** What fails is logged once. Never throws. */
  async #attempt(due: DueStop): Promise<void> {
    const { stop, log } = this.#parts
    const { owned } = due
    const isDue = () => this.#dueStops.get(containerKey(owned)) === due
    // The container may have been stopped, or started, while this waited for others.
    if (this.#isClosed || !isDue()) return
    try {
      if (await stop(owned)) log.info(owned, 'stopped a container at the hours of a group')
      if (isDue()) this.#dueStops.delete(containerKey(owned))
    } catch (err) {
      if (!due.hasFailed)
        log.warn({ err, ...owned }, 'stopping a container at the hours of a group failed; it is repeated')
      due.hasFailed = true
    } finally {
      due.isUnderWay = false
    }
  }

  /** Its managers may have changed or removed the hours. */
  #isStillAsked({ group }: DueStop): boolean {
    const present = this.#parts.directory.timed.find(({ id }) => id === group.id)
    return present !== undefined && present.timetable?.stopAt === group.timetable?.stopAt
  }
}

export interface SetTimetableParts {
  readonly database: Database
  readonly directory: Pick<GroupDirectory, 'refresh'>
  /** Configured container types. */
  readonly types: () => readonly string[]
}

/** Changes of a group's hours by its managers and administrators. */
export class SetTimetable {
  readonly #parts: SetTimetableParts

  constructor(parts: SetTimetableParts) {
    this.#parts = parts
  }

  /**
   * Replaces the hours; null removes them. They hold when the call resolves. The same hours again are no change, and have no entry.
   * @throws {Refusal} 404 · 403 · 400 a zone, date or type that does not exist
   */
  async run(actor: Actor, groupId: number, timetable: Timetable | null, now: Date): Promise<void> {
    const { database, directory } = this.#parts
    await database.transaction(async (tx) => {
      const group = await requireManaged(tx, actor, groupId)
      if (timetable) this.#refuseInvalid(group, timetable)
      if (isDeepStrictEqual(group.timetable, timetable)) return
      await setTimetable(tx, groupId, timetable)
      const [before, after] = [{ timetable: group.timetable }, { timetable }]
      const target = `group:${groupId}`
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.set-timetable', target, before, after }])
    })
    await directory.refresh()
  }

  #refuseInvalid(group: CountedGroup, { timeZone, lessons, exceptions }: Timetable): void {
    if (!isTimeZone(timeZone)) throw refusals.badRequest(message('groups.unknownZone', { zone: timeZone }))
    const wrong = exceptions.find(({ date }) => !isDate(date))
    if (wrong) throw refusals.badRequest(message('groups.unknownDate', { date: wrong.date }))
    const known = this.#parts.types().filter((type) => covers(group, type))
    const all = [...lessons, ...exceptions.flatMap((each) => each.lessons)]
    if (all.some(({ type }) => !known.includes(type))) throw refusals.unknownType(known)
  }
}

/** Whether this is a day of the calendar, as `2026-12-24`. */
function isDate(text: string): boolean {
  const day = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(day) && new Date(day).toISOString().startsWith(text)
}
