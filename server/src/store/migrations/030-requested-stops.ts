import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/**
 * Whether a container was stopped by request, and not because it was idle: the open tab of an application, whose requests go on, started
 * it again within seconds. Earlier stops count as idle ones.
 */
export const requestedStops: Migration = {
  async up(db: Kysely<unknown>) {
    await addColumn(db, 'user_containers', 'is_stop_requested', 'bigint')
  },
}
