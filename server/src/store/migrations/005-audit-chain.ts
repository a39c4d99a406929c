import { sql, type Kysely } from 'kysely'
import { headAfter, headName, headToText, noEntries, type ChainedLine } from '#/store/audit-chain.ts'
import { addColumn, addIndex, type Up } from './columns.ts'

/** Entries chained in one statement. */
const pageSize = 1_000

/**
 * Builds the hash chain of the audit log, and triggers that prevent changes and deletions. An interrupted run may be
 * repeated: the hashes are the same each time, and the head is written after all of them. Once the head exists the
 * entries are left alone; otherwise an attacker who removes this migration from the list would have a forged log
 * chained.
 */
export const auditChain: Up = async (db, isPostgres) => {
  await addColumn(db, 'audit_log', 'position', 'bigint')
  await addColumn(db, 'audit_log', 'hash', 'text')
  const head = await sql`select value from installation where name = ${headName}`.execute(db)
  if (head.rows.length === 0) {
    await allowChanges(db, isPostgres)
    await chainAll(db)
  }
  for (const [name, columns] of Object.entries(indexes)) await addIndex(db, name, 'audit_log', columns)
  await forbidChanges(db, isPostgres)
}

/** For pages, and for each filter. */
const indexes = {
  audit_log_position: ['position'],
  audit_log_actor: ['actor_id', 'position'],
  audit_log_actor_email: ['actor_email', 'position'],
  audit_log_target: ['target', 'position'],
}

type OldLine = Omit<ChainedLine, 'position'> & { readonly id: number }

async function chainAll(db: Kysely<unknown>): Promise<void> {
  let head = noEntries
  for (let after = 0; ;) {
    const { rows } = await sql<OldLine>`
      select id, at, actor_id, actor_email, action, target, detail from audit_log
      where id > ${after} order by id limit ${pageSize}`.execute(db)
    const chained = rows.map((row) => {
      head = headAfter(head, { ...row, position: head.entries + 1 })
      return sql`(cast(${row.id} as bigint), cast(${head.entries} as bigint), cast(${head.hash} as text))`
    })
    if (chained.length === 0) break
    // One statement a page: with SQLite each one waits for the disk.
    await sql`
      update audit_log set position = chained.column2, hash = chained.column3
      from (values ${sql.join(chained)}) as chained where audit_log.id = chained.column1`.execute(db)
    after = rows.at(-1)?.id ?? after
  }
  await sql`insert into installation (name, value) values (${headName}, ${headToText(head)})`.execute(db)
}

const message = 'the audit log is append-only'

async function forbidChanges(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  await allowChanges(db, isPostgres)
  if (isPostgres) {
    await sql`
      create or replace function audit_log_is_append_only() returns trigger language plpgsql as
      $$ begin raise exception ${sql.lit(message)}; end $$`.execute(db)
    await sql`
      create trigger audit_log_no_change before update or delete or truncate on audit_log
      for each statement execute function audit_log_is_append_only()`.execute(db)
    return
  }
  for (const change of ['update', 'delete'])
    await sql`
      create trigger ${sql.ref(`audit_log_no_${change}`)} before ${sql.raw(change)} on audit_log
      begin select raise(abort, ${sql.lit(message)}); end`.execute(db)
}

async function allowChanges(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  if (isPostgres) await sql`drop trigger if exists audit_log_no_change on audit_log`.execute(db)
  else
    for (const change of ['update', 'delete'])
      await sql`drop trigger if exists ${sql.ref(`audit_log_no_${change}`)}`.execute(db)
}
