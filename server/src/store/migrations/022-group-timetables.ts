import { addColumn, type Up } from './columns.ts'

/** Hours of groups, as JSON text. */
export const groupTimetables: Up = async (db) => {
  await addColumn(db, 'user_groups', 'timetable', 'text')
}
