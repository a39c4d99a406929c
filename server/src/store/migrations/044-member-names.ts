import { addColumn, type Up } from './columns.ts'

/** Names of members, as the list of the group's manager has them; null where it had none. */
export const memberNames: Up = async (db) => {
  await addColumn(db, 'group_members', 'name', 'text')
  await addColumn(db, 'group_invitations', 'name', 'text')
}
