import type { Db } from './database.ts'

/**
 * The name of this installation, made once. It is on every container as a label, so that two installations on one
 * engine leave each other's containers alone.
 * @param propose makes a new name; used only when there is none yet
 */
export async function installationName(db: Db, propose: () => string): Promise<string> {
  await db
    .insertInto('installation')
    .values({ name: 'instance', value: propose() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { value } = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', 'instance')
    .executeTakeFirstOrThrow()
  return value
}

/** Writes something that means nothing, to find out whether the store can be written. */
export async function noteWritten(db: Db, now: Date): Promise<void> {
  await db
    .insertInto('installation')
    .values({ name: 'written', value: now.toISOString() })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: now.toISOString() }))
    .execute()
}
