import { refusals } from '#/errors.ts'
import { message } from '#/messages/localized-message.ts'
import type { Db } from '#/store/database.ts'
import { listGroupNames } from '#/store/groups/groups.ts'
import { sumUsage, type UsageKind, type UsageOf, type UsageUnit } from '#/store/usage/usage-sums.ts'
import { listAddresses } from '#/store/users/users.ts'
import { zonedDate } from '#/time-zone.ts'

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
  readonly userId?: number | undefined
  readonly limit: number
  readonly offset: number
}

export interface UsageReportRow extends UsageOf {
  /** Of a group or user; null when it is gone. */
  readonly name: string | null
}

export interface UsageReportPage {
  readonly from: string
  readonly until: string
  readonly rows: readonly UsageReportRow[]
  readonly nextOffset: number | null
}

export interface UsageReportSettings {
  readonly timeZone: string
  readonly keepDays: number
  readonly keepMonths: number
}

/** Reads sums of use for administrators. */
export class UsageReport {
  readonly #db: Db
  readonly settings: UsageReportSettings

  constructor(db: Db, settings: UsageReportSettings) {
    this.#db = db
    this.settings = settings
  }

  /** @throws {Refusal} 400 for users in more than one period, or both a user and a group */
  async read(request: UsageRequest, now: Date): Promise<UsageReportPage> {
    const { unit, by, type, groupId, userId, limit, offset } = request
    const { from, until } = this.#rangeOf(request, now)
    // Sums of all users over a month of days would be read row by row: a month has them already.
    if (by === 'user' && from !== until) throw refusals.badRequest(message('requests.usageOfUsers'))
    if (groupId !== undefined && userId !== undefined) throw refusals.badRequest(message('requests.usageSubject'))
    const kind = kindOf(by, groupId, userId)
    const column = by === 'period' ? 'period' : by === 'type' ? 'container_type' : 'subject_id'
    const subjectId = groupId ?? userId
    const page = { limit: limit + 1, offset }
    const found = await sumUsage(this.#db, { unit, from, until, kind, subjectId, type, by: column }, page)
    const names = await this.#namesOf(by, found)
    const rows = found.slice(0, limit).map((row) => ({ ...row, name: names[String(row.key)] ?? null }))
    return { from, until, rows, nextOffset: found.length > limit ? offset + limit : null }
  }

  #rangeOf({ unit, by, from, until }: UsageRequest, now: Date): { from: string; until: string } {
    const { timeZone, keepDays, keepMonths } = this.settings
    const today = zonedDate(now.getTime(), timeZone)
    const current = unit === 'day' ? today : today.slice(0, 7)
    const last = until ?? (by === 'user' ? (from ?? current) : current)
    const kept = unit === 'day' ? dayBefore(today, keepDays - 1) : monthBefore(today, keepMonths - 1)
    return { from: from ?? (by === 'user' ? last : kept), until: last }
  }

  async #namesOf(by: UsageRequest['by'], found: readonly UsageOf[]): Promise<Readonly<Record<string, string>>> {
    const ids = found.map(({ key }) => Number(key))
    if (by === 'user') return listAddresses(this.#db, ids)
    return by === 'group' ? listGroupNames(this.#db, ids) : {}
  }
}

function kindOf(by: UsageRequest['by'], groupId: number | undefined, userId: number | undefined): UsageKind {
  if (by === 'group' || groupId !== undefined) return 'group'
  return by === 'user' || userId !== undefined ? 'user' : 'all'
}

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
