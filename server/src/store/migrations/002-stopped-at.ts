import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/**
 * When Berth itself stopped a container last. Programs may end with any code when they are stopped; without this, a
 * suspended one would look like one that crashed.
 */
export const stoppedAt: Migration = {
  async up(db: Kysely<unknown>) {
    await addColumn(db, 'user_containers', 'stopped_at', 'bigint')
  },
}
