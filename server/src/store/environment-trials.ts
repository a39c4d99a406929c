import type { Selectable } from 'kysely'
import type { Db } from './database.ts'
import type { EnvironmentTrialsTable } from './schema.ts'

/** A version of an environment that a person tries, in a container of its own; a person has one at a time. */
export interface StoredTrial {
  readonly userId: number
  /** Its name: an environment that was deleted leaves a trial that is to end. */
  readonly environment: string
  readonly version: number
  readonly begunAt: Date
}

/** @returns false when the person has one already */
export async function insertTrial(tx: Db, { userId, environment, version, begunAt }: StoredTrial): Promise<boolean> {
  const row = await tx
    .insertInto('environment_trials')
    .values({ user_id: userId, environment, version, begun_at: begunAt.getTime() })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Oldest first; there are as many as people who try at this moment. */
export async function listTrials(db: Db): Promise<StoredTrial[]> {
  return (await db.selectFrom('environment_trials').selectAll().orderBy('id').execute()).map(fromRow)
}

export async function deleteTrial(tx: Db, userId: number): Promise<void> {
  await tx.deleteFrom('environment_trials').where('user_id', '=', userId).execute()
}

const fromRow = (row: Selectable<EnvironmentTrialsTable>): StoredTrial => ({
  userId: Number(row.user_id),
  environment: row.environment,
  version: Number(row.version),
  begunAt: new Date(Number(row.begun_at)),
})
