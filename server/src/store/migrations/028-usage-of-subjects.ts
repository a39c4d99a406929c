import { addIndex, type Up } from './columns.ts'

/**
 * Sums of some groups or users over many days: by the index on the key all subjects of these days were read, by the one
 * that this replaces all days and months of the subjects.
 */
export const usageOfSubjects: Up = async (db) => {
  await addIndex(db, 'usage_sums_of_subject', 'usage_sums', ['kind', 'subject_id', 'unit', 'period'])
  await db.schema.dropIndex('usage_sums_subject').ifExists().execute()
}
