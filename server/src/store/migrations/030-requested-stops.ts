import { addColumn, type Up } from './columns.ts'

/**
 * Whether a container was stopped by request, and not because it was idle: the open tab of an application, whose requests go on, started
 * it again within seconds. Earlier stops count as idle ones.
 */
export const requestedStops: Up = async (db) => {
  await addColumn(db, 'user_containers', 'is_stop_requested', 'bigint')
}
