import type { Db } from '../database.ts'

/** E-mail addresses by id, of those users who are still there. @param ids at most some thousands; the same one twice counts once */
export async function listAddresses(db: Db, ids: readonly number[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {}
  const rows = await db
    .selectFrom('users')
    .select(['id', 'email'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return Object.fromEntries(rows.map(({ id, email }) => [String(id), email]))
}
