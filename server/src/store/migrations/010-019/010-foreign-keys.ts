import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * An index for each foreign key that had none: without it every deletion of a user reads all records to find those that
 * this user has blocked. And for kept homes, which are searched by time and by former owner.
 */
export const foreignKeys: Migration = {
  async up(db: Kysely<unknown>) {
    const index = (name: string) => db.schema.createIndex(name).ifNotExists()
    await index('user_containers_blocked_by').on('user_containers').columns(['blocked_by']).execute()
    await index('kept_homes_time').on('kept_homes').columns(['remove_after']).execute()
    await index('kept_homes_owner').on('kept_homes').columns(['user_id', 'slug']).execute()
  },
}
