import type { NodeDb } from './node-tables.ts'

/** Secrets that the nodes share; sealed before they come here. */

/** @returns undefined when there is none of this name @throws {StoreFailure} */
export async function readNodeSecret(db: NodeDb, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('node_secrets').select('sealed').where('name', '=', name).executeTakeFirst()
  return row?.sealed
}

/** @throws {StoreFailure} */
export async function writeNodeSecret(db: NodeDb, name: string, sealed: string): Promise<void> {
  await db
    .insertInto('node_secrets')
    .values({ name, sealed })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
    .execute()
}

/** Of several nodes that begin at the same time the first one's counts. @returns what counts @throws {StoreFailure} */
export async function makeNodeSecret(db: NodeDb, name: string, sealed: string): Promise<string> {
  await db
    .insertInto('node_secrets')
    .values({ name, sealed })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await readNodeSecret(db, name)) ?? sealed
}
