import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Users, their containers and links, revocations, audit log. */
export function initial(isPostgres: boolean): Migration {
  // Ids must never be given twice: AUTOINCREMENT in SQLite, an identity column in PostgreSQL.
  const idType = isPostgres ? 'bigint' : 'integer'
  const id = (column: ColumnDefinitionBuilder) =>
    isPostgres ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey().autoIncrement()

  return {
    async up(db: Kysely<unknown>) {
      const table = (name: string) => db.schema.createTable(name).ifNotExists()
      const index = (name: string) => db.schema.createIndex(name).ifNotExists()

      await table('users')
        .addColumn('id', idType, id)
        .addColumn('email', 'text', (c) => c.notNull().unique())
        .addColumn('slug', 'text', (c) => c.notNull().unique())
        .addColumn('state', 'text', (c) => c.notNull())
        .addColumn('is_admin', 'integer', (c) => c.notNull())
        .addColumn('is_blocked', 'integer', (c) => c.notNull().defaultTo(0))
        .addColumn('last_used', 'bigint')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .execute()
      await table('used_slugs')
        .addColumn('slug', 'text', (c) => c.primaryKey())
        .execute()

      await table('user_containers')
        .addColumn('id', idType, id)
        .addColumn('user_id', idType, (c) => c.notNull().references('users.id').onDelete('cascade'))
        .addColumn('container_type', 'text', (c) => c.notNull())
        .addColumn('container_id', 'text')
        .addColumn('container_port', 'integer')
        .addColumn('template_image', 'text', (c) => c.notNull())
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .addColumn('last_used', 'bigint')
        .addColumn('is_blocked', 'integer', (c) => c.notNull().defaultTo(0))
        .addColumn('blocked_at', 'bigint')
        .addColumn('blocked_by', idType, (c) => c.references('users.id').onDelete('set null'))
        .addColumn('block_source', 'text')
        .addUniqueConstraint('user_containers_owner_type', ['user_id', 'container_type'])
        .execute()
      await index('user_containers_blocked').on('user_containers').columns(['is_blocked']).execute()

      await table('magic_links')
        .addColumn('id', idType, id)
        .addColumn('user_id', idType, (c) => c.notNull().references('users.id').onDelete('cascade'))
        .addColumn('token_hash', 'text', (c) => c.notNull().unique())
        .addColumn('token_type', 'text', (c) => c.notNull())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .addColumn('ip_address', 'text', (c) => c.notNull())
        .addColumn('used_at', 'bigint')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .execute()
      await index('magic_links_user').on('magic_links').columns(['user_id']).execute()
      await index('magic_links_expiry').on('magic_links').columns(['expires_at']).execute()
      await table('link_requests')
        .addColumn('id', idType, id)
        .addColumn('email', 'text', (c) => c.notNull())
        .addColumn('requested_at', 'bigint', (c) => c.notNull())
        .execute()
      await index('link_requests_email').on('link_requests').columns(['email', 'requested_at']).execute()

      await table('revoked_tokens')
        .addColumn('jti', 'text', (c) => c.primaryKey())
        .addColumn('expires_at', 'bigint', (c) => c.notNull())
        .execute()
      await table('audit_log')
        .addColumn('id', idType, id)
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('actor_id', idType)
        .addColumn('actor_email', 'text', (c) => c.notNull())
        .addColumn('action', 'text', (c) => c.notNull())
        .addColumn('target', 'text', (c) => c.notNull())
        .addColumn('detail', 'text', (c) => c.notNull())
        .execute()
      await table('installation')
        .addColumn('name', 'text', (c) => c.primaryKey())
        .addColumn('value', 'text', (c) => c.notNull())
        .execute()
    },
  }
}
