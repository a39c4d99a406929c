import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/** The engine's id of a deleted container, which finds it when it was renamed on the engine. */
export const removedContainerId: Migration = {
  up: (db: Kysely<unknown>) => addColumn(db, 'removals', 'container_id', 'text'),
}
