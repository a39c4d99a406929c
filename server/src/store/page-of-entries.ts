import { sql } from 'kysely'
import type { Db } from './database.ts'

/**
 * Max bytes of the details of entries that are read at once, one entry excepted. What is parsed and sent together holds up the
 * process: 1,000 entries with 96 KB each did so for 14 s on a busy machine.
 */
const maxBytes = 1_048_576

/** Bytes of the detail of an entry; neither database reads the text for it. */
export const detailBytes = sql<number | string>`octet_length(detail)`

/** How many of the first entries are read at once; at least one where there is any. @param sizes in bytes */
export function countThatFit(sizes: readonly (number | string)[]): number {
  let bytes = 0
  const tooMany = sizes.findIndex((size) => (bytes += Number(size)) > maxBytes)
  return tooMany === -1 ? sizes.length : Math.max(1, tooMany)
}

/**
 * How many positions behind one are read at once. @param most where their details are small @returns at least 1
 */
export async function windowBehind(db: Db, position: number, most: number): Promise<number> {
  for (let count = most; count > 1; count = Math.ceil(count / 2)) {
    const { bytes } = await db
      .selectFrom('audit_log')
      .select(({ fn }) => fn.sum<number | string | null>(detailBytes).as('bytes'))
      .where('position', '>', position)
      .where('position', '<=', position + count)
      .executeTakeFirstOrThrow()
    if (Number(bytes ?? 0) <= maxBytes) return count
  }
  return 1
}
