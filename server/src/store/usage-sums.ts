import { sql } from 'kysely'
import { deleteInBatches, installationValue, setInstallationValue, type Db } from './database.ts'
import type { UsageSumsTable } from './schema.ts'

/** Sums of use: seconds, MiB times seconds, and CPU time in milliseconds. */
export const usageColumns = [
  'running_s',
  'paused_s',
  'used_s',
  'core_s',
  'memory_mib_s',
  'idle_5_s',
  'idle_15_s',
  'idle_30_s',
  'idle_60_s',
  'idle_120_s',
  'idle_240_s',
  'measured_s',
  'cpu_used_ms',
  'memory_used_mib_s',
  'home_mib_s',
  'gpu_s',
] as const

export type UsageColumn = (typeof usageColumns)[number]
export type UsageSums = Readonly<Record<UsageColumn, number>>

export type UsageUnit = UsageSumsTable['unit']
export type UsageKind = UsageSumsTable['kind']

/** Sums of one subject and type in one period. */
export interface UsageRow extends UsageSums {
  readonly unit: UsageUnit
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string
  readonly kind: UsageKind
  /** Id of the user or group; 0 for all. */
  readonly subject_id: number
  readonly container_type: string
}

const keyColumns = ['unit', 'kind', 'period', 'subject_id', 'container_type'] as const

/** Adds to the stored sums. @param rows of distinct keys; some hundred at most */
export async function addUsage(tx: Db, rows: readonly UsageRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insertInto('usage_sums')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns([...keyColumns])
        .doUpdateSet(
          Object.fromEntries(
            usageColumns.map((name) => [name, sql`${sql.ref(`usage_sums.${name}`)} + ${sql.ref(`excluded.${name}`)}`]),
          ),
        ),
    )
    .execute()
}

const batchName = 'usage batch'

/** Notes which batch was written last, in its transaction: after a lost answer it says whether the batch counts. */
export const saveUsageBatch = (tx: Db, batch: string): Promise<void> => setInstallationValue(tx, batchName, batch)

/** The batch that was written last. */
export const lastUsageBatch = (db: Db): Promise<string | undefined> => installationValue(db, batchName)

/** What sums are asked for. */
export interface UsageQuery {
  readonly unit: UsageUnit
  /** First and last period, both included. */
  readonly from: string
  readonly until: string
  readonly kind: UsageKind
  /** Undefined: of all subjects of the kind. */
  readonly subjectId?: number | undefined
  /** These alone; some hundred at most. */
  readonly subjectIds?: readonly number[] | undefined
  /** Users who are members of a group, in these types; undefined: in all. */
  readonly members?: { readonly groupId: number; readonly types: readonly string[] | undefined } | undefined
  readonly type?: string | undefined
  readonly by: 'period' | 'container_type' | 'subject_id'
}

/** Sums by a key: a period, a type, or the id of a subject. */
export interface UsageOf {
  readonly key: string | number
  readonly sums: UsageSums
}

export interface UsagePage {
  readonly limit: number
  readonly offset: number
  /** Subjects in the order of their ids, from the one after this id on: reads no more than the page. */
  readonly afterId?: number | undefined
}

/**
 * Periods in their order; types and subjects by the time that they ran, the longest first, for which all of them are
 * read, unless the page is one by ids.
 */
export async function sumUsage(
  db: Db,
  { subjectIds, members, by, ...query }: UsageQuery,
  { limit, offset, afterId }: UsagePage,
): Promise<UsageOf[]> {
  if (subjectIds?.length === 0) return []
  const rows = await selectSums(db, query)
    .select([`${by} as key`, ...usageColumns.map(total)])
    .$if(subjectIds !== undefined, (query) => query.where('subject_id', 'in', subjectIds ?? []))
    .$if(afterId !== undefined, (query) => query.where('subject_id', '>', afterId ?? 0))
    .$if(members !== undefined, (query) =>
      query.where('subject_id', 'in', (each) =>
        each
          .selectFrom('group_members')
          .select('user_id')
          .where('group_id', '=', members?.groupId ?? 0),
      ),
    )
    .$if(members?.types !== undefined, (query) => query.where('container_type', 'in', members?.types ?? []))
    .groupBy(by)
    .$if(by !== 'period' && afterId === undefined, (query) => query.orderBy(sql`sum(running_s)`, 'desc'))
    .orderBy(by)
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ key, ...sums }) => ({ key, sums: sums as unknown as UsageSums }))
}

/** Seconds that containers of each subject ran, by its id: a page of subjects. */
export async function sumRunningTimes(
  db: Db,
  query: Pick<UsageQuery, 'unit' | 'from' | 'until' | 'kind' | 'type'>,
  page: { readonly limit: number; readonly afterId: number },
): Promise<{ readonly id: number; readonly seconds: number }[]> {
  return selectSums(db, query)
    .select(['subject_id as id', sql<number>`cast(sum(running_s) as bigint)`.as('seconds')])
    .where('subject_id', '>', page.afterId)
    .groupBy('subject_id')
    .orderBy('subject_id')
    .limit(page.limit)
    .execute()
}

const total = (name: UsageColumn) => sql<number>`cast(sum(${sql.ref(name)}) as bigint)`.as(name)

const selectSums = (db: Db, { unit, from, until, kind, subjectId, type }: Omit<UsageQuery, 'by'>) =>
  db
    .selectFrom('usage_sums')
    .where('kind', '=', kind)
    .where('unit', '=', unit)
    // One period by equality: the index on the key then has subjects in their order.
    .$if(from === until, (query) => query.where('period', '=', from))
    .$if(from !== until, (query) => query.where('period', '>=', from).where('period', '<=', until))
    .$if(subjectId !== undefined, (query) => query.where('subject_id', '=', subjectId ?? 0))
    .$if(type !== undefined, (query) => query.where('container_type', '=', type ?? ''))

/** Deletes what is kept about the use of a user. */
export async function deleteUsageOfUser(tx: Db, userId: number): Promise<void> {
  await tx.deleteFrom('usage_sums').where('kind', '=', 'user').where('subject_id', '=', userId).execute()
}

/** Deletes sums of periods before this one. @returns false when some of very many may be left for the next call */
export async function deleteOldUsage(db: Db, unit: UsageUnit, before: string): Promise<boolean> {
  let isDone = true
  for (const kind of ['user', 'group', 'all'] as const) {
    const isKindDone = await deleteInBatches(async (limit) => {
      const old = db
        .selectFrom('usage_sums')
        .select('id')
        .where('unit', '=', unit)
        .where('kind', '=', kind)
        .where('period', '<', before)
        .limit(limit)
      const { numDeletedRows } = await db.deleteFrom('usage_sums').where('id', 'in', old).executeTakeFirstOrThrow()
      return numDeletedRows
    })
    isDone &&= isKindDone
  }
  return isDone
}
