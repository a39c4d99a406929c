import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addIndex } from './columns.ts'

/**
 * Sums of some groups or users over many days: by the index on the key all subjects of these days were read, by the one
 * that this replaces all days and months of the subjects.
 */
export const usageOfSubjects: Migration = {
  async up(db: Kysely<unknown>) {
    await addIndex(db, 'usage_sums_of_subject', 'usage_sums', ['kind', 'subject_id', 'unit', 'period'])
    await db.schema.dropIndex('usage_sums_subject').ifExists().execute()
  },
}
