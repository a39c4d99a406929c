import type { Db } from '#/store/database.ts'
import { findUserByEmail } from '#/store/users.ts'

/** Id of the owner whom a list of administrators is filtered by. @param owner id or e-mail address @returns 0 for an unknown address */
export async function ownerId(db: Db, owner: string): Promise<number> {
  if (/^\d{1,15}$/.test(owner)) return Number(owner)
  return (await findUserByEmail(db, owner.trim().toLowerCase()))?.id ?? 0
}
