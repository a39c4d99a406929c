import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/** GPUs that a member of a group may have at the same time; null is no limit. */
export const gpus: Migration = {
  async up(db: Kysely<unknown>) {
    await addColumn(db, 'user_groups', 'max_gpus', 'bigint')
  },
}
