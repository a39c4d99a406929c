import { addColumn, type Up } from './columns.ts'

/** GPUs that a member of a group may have at the same time; null is no limit. */
export const gpus: Up = async (db) => {
  await addColumn(db, 'user_groups', 'max_gpus', 'bigint')
}
