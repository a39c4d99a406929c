import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/** Names of members, as the list of the group's manager has them; null where it had none. */
export const memberNames: Migration = {
  async up(db: Kysely<unknown>) {
    await addColumn(db, 'group_members', 'name', 'text')
    await addColumn(db, 'group_invitations', 'name', 'text')
  },
}
