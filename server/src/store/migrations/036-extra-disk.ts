import { addColumn, type Up } from './columns.ts'

/** Bytes that the homes of one person may have beyond every disk limit; null is none. */
export const extraDisk: Up = async (db) => {
  await addColumn(db, 'users', 'extra_disk', 'bigint')
}
