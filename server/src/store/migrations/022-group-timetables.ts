import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/** Hours of groups, as JSON text. */
export const groupTimetables: Migration = {
  async up(db: Kysely<unknown>) {
    await addColumn(db, 'user_groups', 'timetable', 'text')
  },
}
