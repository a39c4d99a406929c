import { sql, type Kysely } from 'kysely'
import { addIndex, columnNames, idColumn, newTable, type Up } from './columns.ts'

const [table, copy] = ['container_shares', 'container_shares_with_ports']
const columns = 'id, record_id, email, group_id, manager_id, asked_in_id, may, created_at, expires_at, port'.split(', ')

/**
 * Port of a container that a share opens; 0 is the main one, which all earlier shares open. A visitor may have a share of
 * each port, so what is unique has the port in it, too. SQLite cannot change a constraint of a table, so its rows move to
 * another one.
 */
export const sharePorts: Up = async (db, isPostgres) => {
  await (isPostgres ? alter(db) : rebuild(db))
  for (const target of ['email', 'group_id', 'manager_id'])
    await db.schema
      .createIndex(`container_shares_unique_${target}`)
      .ifNotExists()
      .unique()
      .on(table)
      .columns([target, 'record_id', 'port'])
      .execute()
  await addIndex(db, 'container_shares_visitor', table, ['email'])
  await addIndex(db, 'container_shares_of_group', table, ['group_id'])
  await addIndex(db, 'container_shares_expiry', table, ['expires_at'])
  await addIndex(db, 'container_shares_asked_in', table, ['asked_in_id'])
  // Of a container that is removed its shares go, too.
  await addIndex(db, 'container_shares_record', table, ['record_id'])
}

async function alter(db: Kysely<unknown>): Promise<void> {
  if (!(await columnNames(db, table)).has('port'))
    await db.schema
      .alterTable(table)
      .addColumn('port', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  for (const name of ['container_shares_email', 'container_shares_group'])
    await db.schema.alterTable(table).dropConstraint(name).ifExists().execute()
  await db.schema.dropIndex('container_shares_manager').ifExists().execute()
}

/** Each step is found done by one that is repeated. */
async function rebuild(db: Kysely<unknown>): Promise<void> {
  const present = await columnNames(db, table)
  if (present.has('port')) return
  if (present.size > 0) {
    await db.schema.dropTable(copy).ifExists().execute()
    await makeCopy(db)
    const known = columns.filter((name) => name !== 'port')
    await sql`insert into ${sql.table(copy)} (${sql.join(columns.map((name) => sql.ref(name)))})
      select ${sql.join(known.map((name) => sql.ref(name)))}, 0 from ${sql.table(table)}`.execute(db)
    // Ids of rows that are gone are not given again.
    await sql`delete from sqlite_sequence where name = ${copy}`.execute(db)
    await sql`insert into sqlite_sequence (name, seq) select ${copy}, seq from sqlite_sequence
      where name = ${table}`.execute(db)
    await db.schema.dropTable(table).execute()
  }
  await db.schema.alterTable(copy).renameTo(table).execute()
}

async function makeCopy(db: Kysely<unknown>): Promise<void> {
  const id = idColumn(false)
  await newTable(db, copy, false)
    .addColumn('record_id', id, (column) => column.notNull().references('user_containers.id').onDelete('cascade'))
    .addColumn('email', 'text')
    .addColumn('group_id', id, (column) => column.references('user_groups.id').onDelete('cascade'))
    .addColumn('manager_id', id, (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('asked_in_id', id, (column) => column.references('user_groups.id').onDelete('cascade'))
    .addColumn('may', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('port', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
}
