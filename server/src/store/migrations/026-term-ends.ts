import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addIndex, idColumn, newTable } from './columns.ts'

/**
 * Ends of terms of groups, with the members that they concern, and archives of homes. None refers to the user: archives
 * outlive the account. Of a link only the hash is stored.
 */
export function termEnds(isPostgres: boolean): Migration {
  const id = idColumn(isPostgres)
  return {
    async up(db: Kysely<unknown>) {
      await newTable(db, 'term_ends', isPostgres)
        .addColumn('group_id', id, (column) => column.references('user_groups.id').onDelete('set null'))
        .addColumn('group_name', 'text', (column) => column.notNull())
        .addColumn('phase', 'text', (column) => column.notNull())
        .addColumn('removes_accounts', 'integer', (column) => column.notNull())
        .addColumn('remove_at', 'bigint', (column) => column.notNull())
        .addColumn('keep_until', 'bigint', (column) => column.notNull())
        .addColumn('group_end', 'bigint')
        .addColumn('started_at', 'bigint', (column) => column.notNull())
        .addColumn('finished_at', 'bigint')
        .addColumn('actor_id', id)
        .addColumn('actor_name', 'text', (column) => column.notNull())
        .addColumn('language', 'text', (column) => column.notNull())
        .addColumn('problem', 'text')
        .execute()
      await addIndex(db, 'term_ends_group', 'term_ends', ['group_id'])
      await newTable(db, 'term_end_members', isPostgres)
        .addColumn('term_end_id', id, (column) => column.notNull().references('term_ends.id').onDelete('cascade'))
        .addColumn('user_id', id, (column) => column.notNull())
        .addColumn('email', 'text', (column) => column.notNull())
        .addColumn('slug', 'text', (column) => column.notNull())
        .addColumn('stays', 'text')
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('problem', 'text')
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('retry_at', 'bigint', (column) => column.notNull())
        .addColumn('downloads', 'integer', (column) => column.notNull())
        .addUniqueConstraint('term_end_members_member', ['term_end_id', 'user_id'])
        .execute()
      await addIndex(db, 'term_end_members_state', 'term_end_members', ['term_end_id', 'state', 'retry_at'])
      await addIndex(db, 'term_end_members_user', 'term_end_members', ['user_id'])
      await newTable(db, 'home_archives', isPostgres)
        .addColumn('member_id', id, (column) => column.notNull().references('term_end_members.id').onDelete('cascade'))
        .addColumn('container_type', 'text', (column) => column.notNull())
        .addColumn('file', 'text', (column) => column.notNull())
        .addColumn('bytes', 'bigint', (column) => column.notNull())
        .addColumn('record_state', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('home_archives_type', ['member_id', 'container_type'])
        .execute()
      await newTable(db, 'archive_links', isPostgres)
        .addColumn('member_id', id, (column) => column.notNull().references('term_end_members.id').onDelete('cascade'))
        .addColumn('token_hash', 'text', (column) => column.notNull().unique())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('accepted_at', 'bigint')
        .execute()
      await addIndex(db, 'archive_links_member', 'archive_links', ['member_id'])
    },
  }
}
