import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnNames } from './columns.ts'

/** By which nodes of two versions know whether they understand each other. Null for a node of a version before. */
export function nodeProtocol(isPostgres: boolean): Migration {
  return {
    async up(db: Kysely<unknown>) {
      if (isPostgres && !(await columnNames(db, 'nodes')).has('protocol'))
        await db.schema.alterTable('nodes').addColumn('protocol', 'integer').execute()
    },
  }
}
