import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/**
 * Which identities of OpenID Connect providers sign in to which account, and which sessions began there: so that a person
 * whose address changes keeps the account, and a sign-out at the provider ends the session here, and the other way round.
 */
export const identities: Up = async (db, isPostgres) => {
  await newTable(db, 'identities', isPostgres)
    .addColumn('user_id', idColumn(isPostgres), (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('identities_subject', ['issuer', 'subject'])
    .addUniqueConstraint('identities_user', ['user_id', 'issuer'])
    .execute()
  await db.schema
    .createTable('provider_sessions')
    .ifNotExists()
    .addColumn('session_id', idColumn(isPostgres), (column) =>
      column.primaryKey().references('sessions.id').onDelete('cascade'),
    )
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('sid', 'text')
    .addColumn('id_token', 'text', (column) => column.notNull())
    .execute()
  await addIndex(db, 'provider_sessions_sid', 'provider_sessions', ['sid', 'issuer'])
  await addIndex(db, 'provider_sessions_subject', 'provider_sessions', ['subject', 'issuer'])
}
