import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { setTimetable, type Timetable } from '#/store/timetables.ts'
import type { CountedGroup } from '#/store/groups.ts'
import { isTimeZone } from '#/machine/time-zone.ts'
import { covers, type GroupDirectory } from '#/templates/group-directory.ts'
import { requireManaged } from './group-rights.ts'

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
