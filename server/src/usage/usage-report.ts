import { setImmediate as turn } from 'node:timers/promises'
import { message } from '@berth/texts/localized-message.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import { setLatest } from '#/machine/recent-counts.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Db } from '#/store/database.ts'
import { findGroup, listGroupNames } from '#/store/groups.ts'
import { pageOf, type PageOf } from '#/store/pagination.ts'
import { sumRunningTimes, sumUsage, type UsageOf, type UsageQuery, type UsageUnit } from '#/store/usage-sums.ts'
import { findUser, findUserByEmail, listAddresses } from '#/store/users.ts'

const day = 86_400_000

/** What a report is made of. */
export interface UsageRequest {
  readonly unit: UsageUnit
  /** First and last period, both included; undefined: all that is kept, for users the present one. */
  readonly from?: string | undefined
  readonly until?: string | undefined
  readonly by: 'period' | 'type' | 'group' | 'user'
  readonly type?: string | undefined
  readonly groupId?: number | undefined
  /** Id or e-mail address. */
  readonly user?: string | undefined
  readonly limit: number
  /** By hours running, the longest first; or users and groups by their ids, which takes less for many pages. */
  readonly sort: 'running' | 'key'
  /** `next` of the page before. */
  readonly after: number
}

export interface UsageReportRow extends UsageOf {
  /** Name of the group or user; null when it is gone. */
  readonly name: string | null
}

/** The group or user that a report is about. */
export interface UsageSubject {
  readonly kind: 'group' | 'user'
  readonly id: number
  /** Null when it is gone. */
  readonly name: string | null
}

export interface UsageReportPage {
  readonly from: string
  readonly until: string
  readonly subject: UsageSubject | null
  readonly rows: readonly UsageReportRow[]
  /** What continues after this page; null on the last one. */
  readonly next: number | null
}

export interface UsageReportSettings {
  readonly timeZone: string
  readonly keepDays: number
  readonly keepMonths: number
}

/** `after`: `next` of the page before. */
type Page = Pick<UsageRequest, 'limit' | 'after'>

/** Reads sums of use for administrators. */
export class UsageReport {
  readonly #db: Db
  readonly #ranking: UsageRanking
  readonly settings: UsageReportSettings

  constructor(db: Db, settings: UsageReportSettings) {
    this.#db = db
    this.#ranking = new UsageRanking(db)
    this.settings = settings
  }

  /**
   * @throws {Refusal} 400 for users in more than one period, for both a user and a group, and for groups of a user ·
   * 404 for an address without an account
   */
  async read(request: UsageRequest, now: Date): Promise<UsageReportPage> {
    const { unit, by, type, limit, sort, after } = request
    const { from, until } = this.#rangeOf(request, now)
    // Sums of all users over a month of days would be read row by row: a month has them already.
    if (by === 'user' && from !== until) throw refusals.badRequest(message('requests.usageOfUsers'))
    const subject = await this.#subjectOf(request)
    const kind = by === 'user' || by === 'group' ? by : (subject?.kind ?? 'all')
    const isOfMembers = by === 'user' && subject?.kind === 'group'
    const query: UsageQuery = {
      unit,
      from,
      until,
      kind,
      type,
      by: columns[by],
      subjectId: isOfMembers ? undefined : subject?.id,
      members: isOfMembers ? await this.#membersOf(subject.id) : undefined,
    }
    const isOfMany = (by === 'user' || by === 'group') && !subject
    const page = { limit, after }
    const { rows, next } = await (!isOfMany
      ? this.#readAll(query, page)
      : sort === 'key'
        ? this.#readById(query, page)
        : this.#readRanked(query, page))
    const names = await this.#namesOf(by, rows)
    return { from, until, subject, rows: rows.map((row) => ({ ...row, name: names[String(row.key)] ?? null })), next }
  }

  /** Rows of which there are some hundred. */
  async #readAll(query: UsageQuery, { limit, after }: Page): Promise<PageOf<UsageOf, number>> {
    const found = await sumUsage(this.#db, query, { limit: limit + 1, offset: after })
    return pageOf(found, limit, () => after + limit)
  }

  async #readById(query: UsageQuery, { limit, after }: Page): Promise<PageOf<UsageOf, number>> {
    const found = await sumUsage(this.#db, query, { limit: limit + 1, offset: 0, afterId: after })
    return pageOf(found, limit, ({ key }) => Number(key))
  }

  async #readRanked(query: UsageQuery, { limit, after }: Page): Promise<PageOf<UsageOf, number>> {
    const ids = await this.#ranking.idsOf(query)
    const subjectIds = ids.slice(after, after + limit)
    const found = await sumUsage(this.#db, { ...query, subjectIds }, { limit, offset: 0, afterId: 0 })
    const byId = new Map(found.map((row) => [Number(row.key), row]))
    // Users who were deleted since the order was read have no row.
    const rows = subjectIds.flatMap((id) => byId.get(id) ?? [])
    return { rows, next: after + limit < ids.length ? after + limit : null }
  }

  #rangeOf({ unit, by, from, until }: UsageRequest, now: Date): { from: string; until: string } {
    const { timeZone, keepDays, keepMonths } = this.settings
    const today = zonedDate(now.getTime(), timeZone)
    const current = unit === 'day' ? today : today.slice(0, 7)
    const last = until ?? (by === 'user' ? (from ?? current) : current)
    const kept = unit === 'day' ? dayBefore(today, keepDays - 1) : monthBefore(today, keepMonths - 1)
    return { from: from ?? (by === 'user' ? last : kept), until: last }
  }

  async #subjectOf({ by, groupId, user }: UsageRequest): Promise<UsageSubject | null> {
    if (user !== undefined && (groupId !== undefined || by === 'group'))
      throw refusals.badRequest(message('requests.usageSubject'))
    if (groupId !== undefined) {
      const names = await listGroupNames(this.#db, [groupId])
      return { kind: 'group', id: groupId, name: names[String(groupId)] ?? null }
    }
    return user === undefined ? null : this.#userOf(user)
  }

  async #userOf(user: string): Promise<UsageSubject> {
    const isId = /^\d{1,15}$/.test(user)
    const found = isId ? await findUser(this.#db, Number(user)) : await findUserByEmail(this.#db, user.toLowerCase())
    if (!found && !isId) throw refusals.notFound('user')
    return { kind: 'user', id: found?.id ?? Number(user), name: found?.email ?? null }
  }

  /** Its members at present, and the types that it acts on; a group that is gone has none. */
  async #membersOf(groupId: number) {
    const group = await findGroup(this.#db, groupId)
    return { groupId, types: group?.types ?? undefined }
  }

  async #namesOf(by: UsageRequest['by'], found: readonly UsageOf[]): Promise<Readonly<Record<string, string>>> {
    const ids = found.map(({ key }) => Number(key))
    if (by === 'user') return listAddresses(this.#db, ids)
    return by === 'group' ? listGroupNames(this.#db, ids) : {}
  }
}

const columns = {
  period: 'period',
  type: 'container_type',
  group: 'subject_id',
  user: 'subject_id',
} as const satisfies Record<UsageRequest['by'], string>

/** @param date `YYYY-MM-DD` */
export function dayBefore(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00Z`) - days * day).toISOString().slice(0, 10)
}

/** @param date `YYYY-MM-DD` @returns `YYYY-MM` */
export function monthBefore(date: string, months: number): string {
  const first = new Date(`${date.slice(0, 7)}-01T00:00Z`)
  first.setUTCMonth(first.getUTCMonth() - months)
  return first.toISOString().slice(0, 7)
}

/** How long an order is used, in ms: sums are written as often. */
const maxOrderAge = 300_000
/** Orders that are kept at most. */
const maxOrders = 16
/** Subjects of one query: SQLite answers in this process, and other requests go on in between. */
const pageSize = 2_000

/** What is ranked: users or groups in some periods, of one type or of all. */
export type RankingQuery = Pick<UsageQuery, 'unit' | 'from' | 'until' | 'kind' | 'type'>

interface Order {
  readonly at: number
  readonly ids: Promise<readonly number[]>
}

/**
 * Users or groups by the time that their containers ran, the longest first. To find the first of 100,000 users all are
 * read; so they are read in pages, and the order is kept for some minutes, for the pages that follow. Nothing is kept
 * unless an administrator asks.
 */
export class UsageRanking {
  readonly #db: Db
  readonly #orders = new Map<string, Order>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Ids of all subjects in their order, as of some minutes ago at most. @throws {StoreFailure} */
  async idsOf({ unit, from, until, kind, type }: RankingQuery): Promise<readonly number[]> {
    const key = JSON.stringify([unit, from, until, kind, type])
    const known = this.#orders.get(key)
    if (known && performance.now() - known.at < maxOrderAge) return known.ids
    const order = { at: performance.now(), ids: this.#read({ unit, from, until, kind, type }) }
    this.#keep(key, order)
    return order.ids.catch((error: unknown) => {
      if (this.#orders.get(key) === order) this.#orders.delete(key)
      throw error
    })
  }

  #keep(key: string, order: Order): void {
    setLatest(this.#orders, key, order, maxOrders)
  }

  async #read(query: RankingQuery): Promise<readonly number[]> {
    const all: { readonly id: number; readonly seconds: number }[] = []
    for (let page = await this.#page(query, 0); page.length > 0; page = await this.#page(query, all.at(-1)?.id ?? 0)) {
      all.push(...page)
      if (page.length < pageSize) break
      await turn()
    }
    all.sort((one, other) => other.seconds - one.seconds || one.id - other.id)
    return all.map(({ id }) => id)
  }

  #page(query: RankingQuery, afterId: number) {
    return sumRunningTimes(this.#db, query, { limit: pageSize, afterId })
  }
}
