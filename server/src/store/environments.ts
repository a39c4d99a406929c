import { LocalizedMessage, type MessageKey } from '@berth/texts/localized-message.ts'
import type { EnvironmentSource } from '@berth/api/schemas/environments.ts'
import type { Db } from './database.ts'
import type { EnvironmentsTable, EnvironmentVersionsTable } from './schema.ts'
import type { Selectable } from 'kysely'

/** What an image is built from, as its author sets it. */
export interface EnvironmentFields {
  /** Unique. */
  readonly name: string
  readonly description: string
  readonly source: EnvironmentSource
  readonly groupId: number | null
}

export interface StoredEnvironment extends EnvironmentFields {
  readonly id: number
  /** The version that launches use; null: none yet. */
  readonly published: number | null
}

/** What a version was built from; of a repository with the commit, once it is ready. */
export type VersionSource = EnvironmentSource & { readonly commit?: string }

export type VersionState = EnvironmentVersionsTable['state']

export interface StoredVersion {
  readonly id: number
  readonly environmentId: number
  readonly version: number
  readonly state: VersionState
  readonly source: VersionSource
  readonly imageId: string | null
  /** Bytes. */
  readonly size: number | null
  readonly createdAt: Date
  /** Why it failed. */
  readonly error: LocalizedMessage | null
}

export async function countEnvironments(db: Db): Promise<number> {
  const { all } = await db
    .selectFrom('environments')
    .select(({ fn }) => fn.countAll<number | string>().as('all'))
    .executeTakeFirstOrThrow()
  return Number(all)
}

/** @returns undefined when there is one of this name */
export async function insertEnvironment(
  tx: Db,
  { name, description, source, groupId }: EnvironmentFields,
  now: Date,
): Promise<StoredEnvironment | undefined> {
  const row = await tx
    .insertInto('environments')
    .values({
      name,
      description,
      source: JSON.stringify(source),
      group_id: groupId,
      published: null,
      last_version: 0,
      created_at: now.getTime(),
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function updateEnvironment(
  tx: Db,
  id: number,
  { description, source, groupId }: Omit<EnvironmentFields, 'name'>,
): Promise<void> {
  const change = { description, source: JSON.stringify(source), group_id: groupId }
  await tx.updateTable('environments').set(change).where('id', '=', id).execute()
}

/** With its versions and their logs. */
export async function deleteEnvironment(tx: Db, id: number): Promise<void> {
  await tx.deleteFrom('environments').where('id', '=', id).execute()
}

export async function findEnvironment(db: Db, name: string): Promise<StoredEnvironment | undefined> {
  const row = await db.selectFrom('environments').selectAll().where('name', '=', name).executeTakeFirst()
  return row && fromRow(row)
}

/**
 * A page by id.
 * @param page `after`: id of the last row of the page before
 * @param groupIds those of these groups alone; null: all
 */
export async function listEnvironments(
  db: Db,
  page: { readonly limit: number; readonly after: number },
  groupIds: readonly number[] | null,
): Promise<StoredEnvironment[]> {
  if (groupIds?.length === 0) return []
  let query = db.selectFrom('environments').selectAll().where('id', '>', page.after).orderBy('id').limit(page.limit)
  if (groupIds !== null) query = query.where('group_id', 'in', groupIds)
  return (await query.execute()).map(fromRow)
}

/** Versions that launches use, by the name of the environment. */
export async function listPublished(db: Db): Promise<{ readonly name: string; readonly version: number }[]> {
  const rows = await db
    .selectFrom('environments')
    .select(['name', 'published'])
    .where('published', 'is not', null)
    .execute()
  return rows.map(({ name, published }) => ({ name, version: Number(published) }))
}

export async function setPublished(tx: Db, id: number, version: number): Promise<void> {
  await tx.updateTable('environments').set({ published: version }).where('id', '=', id).execute()
}

/** Makes the next version, which waits to be built. */
export async function insertVersion(
  tx: Db,
  { id, source }: Pick<StoredEnvironment, 'id' | 'source'>,
  now: Date,
): Promise<StoredVersion> {
  const { last_version: version } = await tx
    .updateTable('environments')
    .set(({ eb }) => ({ last_version: eb('last_version', '+', 1) }))
    .where('id', '=', id)
    .returning('last_version')
    .executeTakeFirstOrThrow()
  const row = await tx
    .insertInto('environment_versions')
    .values({
      environment_id: id,
      version: Number(version),
      state: 'waiting',
      source: JSON.stringify(source),
      image_id: null,
      size: null,
      created_at: now.getTime(),
      error: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return versionFromRow(row)
}

/** Newest first. */
export async function listVersions(db: Db, environmentIds: readonly number[]): Promise<StoredVersion[]> {
  if (environmentIds.length === 0) return []
  const rows = await db
    .selectFrom('environment_versions')
    .selectAll()
    .where('environment_id', 'in', environmentIds)
    .orderBy('version', 'desc')
    .execute()
  return rows.map(versionFromRow)
}

export async function findVersion(db: Db, environmentId: number, version: number): Promise<StoredVersion | undefined> {
  const row = await db
    .selectFrom('environment_versions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && versionFromRow(row)
}

/** Versions whose images, or what is being built of them, are to stay in the engine. */
export async function listBuilt(
  db: Db,
): Promise<{ readonly environmentId: number; readonly version: number; readonly state: VersionState }[]> {
  const rows = await db
    .selectFrom('environment_versions')
    .select(['environment_id', 'version', 'state'])
    .where('state', '!=', 'failed')
    .execute()
  return rows.map((row) => ({
    environmentId: Number(row.environment_id),
    version: Number(row.version),
    state: row.state,
  }))
}

/** Versions that are ready, and the bytes of their images; layers that they share count for each. */
export async function sumOfImages(db: Db): Promise<{ readonly count: number; readonly bytes: number }> {
  const { count, bytes } = await db
    .selectFrom('environment_versions')
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.sum<number | string | null>('size').as('bytes'),
    ])
    .where('state', '=', 'ready')
    .executeTakeFirstOrThrow()
  return { count: Number(count), bytes: Number(bytes ?? 0) }
}

export async function setBuilding(db: Db, id: number): Promise<void> {
  await db.updateTable('environment_versions').set({ state: 'building' }).where('id', '=', id).execute()
}

/** How a build ended, with its output. A version that was deleted meanwhile stays deleted. */
export async function finishVersion(
  tx: Db,
  id: number,
  end:
    | { readonly state: 'ready'; readonly imageId: string; readonly size: number; readonly source: VersionSource }
    | { readonly state: 'failed'; readonly error: LocalizedMessage },
  log: string,
): Promise<void> {
  const change =
    end.state === 'ready'
      ? { state: end.state, image_id: end.imageId, size: end.size, source: JSON.stringify(end.source) }
      : { state: end.state, error: JSON.stringify(end.error) }
  const updated = await tx
    .updateTable('environment_versions')
    .set(change)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  if (updated) await tx.insertInto('environment_logs').values({ version_id: id, log }).execute()
}

/**
 * Versions that another process was building, or was about to.
 * @param others ids of versions that stay as they are, and the time before which the others were stored
 * @returns how many
 */
export async function failUnfinished(
  db: Db,
  error: LocalizedMessage,
  others?: { readonly except: readonly number[]; readonly before: Date },
): Promise<number> {
  let query = db
    .updateTable('environment_versions')
    .set({ state: 'failed', error: JSON.stringify(error) })
    .where('state', 'in', ['waiting', 'building'])
  if (others) query = query.where('created_at', '<', others.before.getTime())
  if (others && others.except.length > 0) query = query.where('id', 'not in', others.except)
  return (await query.returning('id').execute()).length
}

export async function deleteVersions(tx: Db, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.deleteFrom('environment_versions').where('id', 'in', ids).execute()
}

/** Output of a build that has ended; undefined when none was stored. */
export async function readLog(db: Db, versionId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('environment_logs')
    .select('log')
    .where('version_id', '=', versionId)
    .executeTakeFirst()
  return row?.log
}

const fromRow = (row: Selectable<EnvironmentsTable>): StoredEnvironment => ({
  id: Number(row.id),
  name: row.name,
  description: row.description,
  source: JSON.parse(row.source) as EnvironmentSource,
  groupId: row.group_id === null ? null : Number(row.group_id),
  published: row.published === null ? null : Number(row.published),
})

const versionFromRow = (row: Selectable<EnvironmentVersionsTable>): StoredVersion => ({
  id: Number(row.id),
  environmentId: Number(row.environment_id),
  version: Number(row.version),
  state: row.state,
  source: JSON.parse(row.source) as VersionSource,
  imageId: row.image_id,
  size: row.size === null ? null : Number(row.size),
  createdAt: new Date(Number(row.created_at)),
  error: row.error === null ? null : messageFrom(row.error),
})

/** Messages stand in messages: a size is one. */
function messageFrom(text: string): LocalizedMessage {
  return JSON.parse(text, (_, value: unknown) =>
    value instanceof Object && 'key' in value && 'values' in value
      ? new LocalizedMessage(value.key as MessageKey, value.values as LocalizedMessage['values'])
      : value,
  ) as LocalizedMessage
}
