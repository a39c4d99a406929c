import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/** Containers that Berth stopped because of what they had written outside of their homes. */
export const fullLayers: Migration = {
  async up(db: Kysely<unknown>) {
    await addColumn(db, 'user_containers', 'full_layer', 'bigint')
  },
}
