import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/** What users chose for the parameters of a template. */
export const parameters: Migration = {
  up: (db: Kysely<unknown>) => addColumn(db, 'user_containers', 'parameters', 'text'),
}
