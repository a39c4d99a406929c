import { columnNames, type Up } from './columns.ts'

/** By which nodes of two versions know whether they understand each other. Null for a node of a version before. */
export const nodeProtocol: Up = async (db, isPostgres) => {
  if (isPostgres && !(await columnNames(db, 'nodes')).has('protocol'))
    await db.schema.alterTable('nodes').addColumn('protocol', 'integer').execute()
}
