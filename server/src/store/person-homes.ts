import type { Db } from './database.ts'

/** Which home all types of a person share. */
export interface PersonHome {
  readonly userId: number
  /** Type whose home it was before; empty for one that was shared from its beginning. */
  readonly type: string
}

/** Undefined while none was chosen. */
export async function findPersonHome(db: Db, userId: number): Promise<PersonHome | undefined> {
  const row = await db.selectFrom('person_homes').selectAll().where('user_id', '=', userId).executeTakeFirst()
  return row && { userId: row.user_id, type: row.container_type }
}

/** Of all people, or of these; at most a page of people at a time. */
export async function listPersonHomes(db: Db, userIds?: readonly number[]): Promise<PersonHome[]> {
  if (userIds?.length === 0) return []
  const all = db.selectFrom('person_homes').selectAll()
  const rows = await (userIds ? all.where('user_id', 'in', userIds) : all).execute()
  return rows.map((row) => ({ userId: row.user_id, type: row.container_type }))
}

/** Stores it unless one was chosen before. @returns the one that counts; undefined when there is no such user */
export async function choosePersonHome(db: Db, { userId, type }: PersonHome): Promise<PersonHome | undefined> {
  await db
    .insertInto('person_homes')
    .columns(['user_id', 'container_type'])
    .expression((each) =>
      each
        .selectFrom('users')
        .select((row) => ['users.id', row.val(type).as('container_type')])
        .where('users.id', '=', userId),
    )
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute()
  return findPersonHome(db, userId)
}
