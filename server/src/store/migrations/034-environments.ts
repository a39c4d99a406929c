import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/** Images that Berth builds, with their versions. Logs are a table of their own: lists of versions do not read them. */
export const environments: Up = async (db, isPostgres) => {
  const id = idColumn(isPostgres)
  await newTable(db, 'environments', isPostgres)
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('group_id', id, (column) => column.references('user_groups.id').onDelete('set null'))
    .addColumn('published', 'bigint')
    .addColumn('last_version', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await addIndex(db, 'environments_group', 'environments', ['group_id'])
  await newTable(db, 'environment_versions', isPostgres)
    .addColumn('environment_id', id, (column) => column.notNull().references('environments.id').onDelete('cascade'))
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('image_id', 'text')
    .addColumn('size', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('error', 'text')
    .addUniqueConstraint('environment_versions_version', ['environment_id', 'version'])
    .execute()
  await newTable(db, 'environment_logs', isPostgres)
    .addColumn('version_id', id, (column) =>
      column.notNull().unique().references('environment_versions.id').onDelete('cascade'),
    )
    .addColumn('log', 'text', (column) => column.notNull())
    .execute()
}
