import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { addColumn } from './columns.ts'

/** Bytes that the homes of one person may have beyond every disk limit; null is none. */
export const extraDisk: Migration = {
  async up(db: Kysely<unknown>) {
    await addColumn(db, 'users', 'extra_disk', 'bigint')
  },
}
