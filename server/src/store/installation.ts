import type { Db } from './database.ts'

/** Row of the installation's name; a store without it was never used. */
const installationKey = 'instance'

/**
 * Name of this installation, created once. It is a label of every container, so that two installations on one engine
 * ignore each other's containers.
 * @param propose creates a name; used only when there is none yet
 */
export async function installationName(db: Db, propose: () => string): Promise<string> {
  return madeOnce(db, installationKey, propose)
}

/** As `installationName`, of a store that has been used. @throws when it has none */
export async function readInstallationName(db: Db): Promise<string> {
  return read(db, installationKey)
}

/** The era of new tokens; see `Revocations`. @param propose as above */
export async function tokenEra(db: Db, propose: () => string): Promise<string> {
  return madeOnce(db, 'token era', propose)
}

export async function setTokenEra(db: Db, era: string): Promise<void> {
  await set(db, 'token era', era)
}

/** Writes a row without meaning, to check that the store can be written. */
export async function noteWritten(db: Db, now: Date): Promise<void> {
  await set(db, 'written', now.toISOString())
}

async function madeOnce(db: Db, name: string, propose: () => string): Promise<string> {
  await db
    .insertInto('installation')
    .values({ name, value: propose() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return read(db, name)
}

async function read(db: Db, name: string): Promise<string> {
  const { value } = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return value
}

async function set(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
