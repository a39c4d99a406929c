import { addColumn, type Up } from './columns.ts'

/**
 * When Berth itself stopped a container last. Programs may end with any code when they are stopped; without this, a
 * suspended one would look like one that crashed.
 */
export const stoppedAt: Up = async (db) => {
  await addColumn(db, 'user_containers', 'stopped_at', 'bigint')
}
