import { sql, type Kysely } from 'kysely'
import { addColumn, addIndex, columnNames, type Up } from './columns.ts'

/**
 * The mailbox that a link was requested for, without the address's plus tag, so that tags do not evade the limit; when
 * a link's mail was accepted; and an index of accounts that were never verified.
 */
export const links: Up = async (db, isPostgres) => {
  await addMailbox(db)
  await fillMailboxes(db, isPostgres ? 'strpos' : 'instr')
  await addColumn(db, 'magic_links', 'accepted_at', 'bigint')
  await addIndex(db, 'link_requests_mailbox', 'link_requests', ['mailbox', 'requested_at'])
  await addIndex(db, 'users_state', 'users', ['state', 'created_at'])
}

/** The empty text is what an older Berth writes while it still serves. */
async function addMailbox(db: Kysely<unknown>): Promise<void> {
  if ((await columnNames(db, 'link_requests')).has('mailbox')) return
  const table = db.schema.alterTable('link_requests')
  await table.addColumn('mailbox', 'text', (column) => column.notNull().defaultTo('')).execute()
}

/** @param find the dialect's function for the position of a text in another one, from 1; 0 when it is not there */
async function fillMailboxes(db: Kysely<unknown>, find: 'strpos' | 'instr'): Promise<void> {
  const [plus, at] = [sql.raw(`${find}(email, '+')`), sql.raw(`${find}(email, '@')`)]
  await sql`update link_requests set mailbox = email where mailbox = ''`.execute(db)
  await sql`update link_requests set mailbox = substr(email, 1, ${plus} - 1) || substr(email, ${at})
    where mailbox = email and ${plus} > 1 and ${plus} < ${at}`.execute(db)
}
