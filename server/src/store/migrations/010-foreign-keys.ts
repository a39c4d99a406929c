import { addIndex, type Up } from './columns.ts'

/**
 * An index for each foreign key that had none: without it every deletion of a user reads all records to find those that
 * this user has blocked. And for kept homes, which are searched by time and by former owner.
 */
export const foreignKeys: Up = async (db) => {
  await addIndex(db, 'user_containers_blocked_by', 'user_containers', ['blocked_by'])
  await addIndex(db, 'kept_homes_time', 'kept_homes', ['remove_after'])
  await addIndex(db, 'kept_homes_owner', 'kept_homes', ['user_id', 'slug'])
}
