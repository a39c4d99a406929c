import { addColumn, type Up } from './columns.ts'

/** Why Berth stopped a container last; null where it runs, or was stopped before. */
export const stopReasons: Up = async (db) => {
  await addColumn(db, 'user_containers', 'stop_reason', 'text')
}
