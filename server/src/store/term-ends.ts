import type { Selectable } from 'kysely'
import type { Db } from './database.ts'
import type { TermEndMembersTable, TermEndsTable } from './term-end-tables.ts'

export type TermEndPhase = TermEndsTable['phase']
/** Why an end of term does not go on at the moment: no room, no engine, or its administrator is none any more. */
export type TermEndProblem = NonNullable<TermEndsTable['problem']>

/** What an administrator asks for. */
export interface TermEndFields {
  readonly groupId: number
  readonly groupName: string
  readonly removesAccounts: boolean
  /** Nothing is removed before. */
  readonly removeAt: Date
  /** Archives are deleted then. */
  readonly keepUntil: Date
  /** End of the group before. */
  readonly groupEnd: Date | null
  readonly startedAt: Date
  /** Null for the operator. */
  readonly actorId: number | null
  readonly actorName: string
  readonly language: TermEndsTable['language']
}

/** An end of term: what is left to do is in the states of its members. */
export interface TermEnd extends Omit<TermEndFields, 'groupId'> {
  readonly id: number
  /** Null once the group is deleted. */
  readonly groupId: number | null
  readonly phase: TermEndPhase
  readonly finishedAt: Date | null
  readonly problem: TermEndProblem | null
}

/** Members by state. */
export type MemberCounts = Readonly<Record<TermEndMembersTable['state'], number>>

/** @returns its id */
export async function insertTermEnd(tx: Db, fields: TermEndFields): Promise<number> {
  const { id } = await tx
    .insertInto('term_ends')
    .values({
      group_id: fields.groupId,
      group_name: fields.groupName,
      phase: 'archiving',
      removes_accounts: Number(fields.removesAccounts),
      remove_at: fields.removeAt.getTime(),
      keep_until: fields.keepUntil.getTime(),
      group_end: fields.groupEnd?.getTime() ?? null,
      started_at: fields.startedAt.getTime(),
      finished_at: null,
      actor_id: fields.actorId,
      actor_name: fields.actorName,
      language: fields.language,
      problem: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** The latest of a group, unless it was cancelled. */
export async function findTermEndOf(db: Db, groupId: number): Promise<TermEnd | undefined> {
  const row = await db
    .selectFrom('term_ends')
    .selectAll()
    .where('group_id', '=', groupId)
    .where('phase', '!=', 'cancelled')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function findTermEnd(db: Db, id: number): Promise<TermEnd | undefined> {
  const row = await db.selectFrom('term_ends').selectAll().where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Whether it is in this phase, and its archives are still kept. */
export async function isUnderWay(db: Db, id: number, phase: TermEndPhase, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('term_ends')
    .select('id')
    .where('id', '=', id)
    .where('phase', '=', phase)
    .where('keep_until', '>', now.getTime())
    .executeTakeFirst()
  return row !== undefined
}

/** Whether an end of term of the group has work left: the group must stay as it is. */
export async function hasOpenTermEnd(db: Db, groupId: number): Promise<boolean> {
  const row = await db
    .selectFrom('term_ends')
    .select('id')
    .where('group_id', '=', groupId)
    .where('phase', 'in', ['archiving', 'removing'])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** All, oldest first: those whose archives are kept, too. Few: one for a group in the time for which archives are kept. */
export async function listTermEnds(db: Db): Promise<TermEnd[]> {
  return (await db.selectFrom('term_ends').selectAll().orderBy('id').execute()).map(fromRow)
}

/** Moves it on, unless another caller has moved it. @returns whether this call did */
export async function moveTermEnd(
  db: Db,
  id: number,
  from: readonly TermEndPhase[],
  to: TermEndPhase,
  finishedAt: Date | null = null,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('term_ends')
    .set({ phase: to, finished_at: finishedAt?.getTime() ?? null })
    .where('id', '=', id)
    .where('phase', 'in', from)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Notes why it does not go on; null: it does. */
export async function setTermEndProblem(db: Db, id: number, problem: TermEndProblem | null): Promise<void> {
  await db.updateTable('term_ends').set({ problem }).where('id', '=', id).execute()
}

/** Who answers for the rest from now on. */
export async function setStartedBy(
  tx: Db,
  id: number,
  actor: Pick<TermEnd, 'actorId' | 'actorName' | 'language'>,
): Promise<void> {
  const { actorId: actor_id, actorName: actor_name, language } = actor
  await tx
    .updateTable('term_ends')
    .set({ actor_id, actor_name, language, problem: null })
    .where('id', '=', id)
    .execute()
}

/** Takes the address of a deleted user out of ends of terms that the user began. */
export async function forgetStarter(tx: Db, userId: number): Promise<void> {
  await tx
    .updateTable('term_ends')
    .set({ actor_name: `user:${userId}` })
    .where('actor_id', '=', userId)
    .execute()
}

/** With its members, the rows of their archives, and links. */
export async function deleteTermEnd(db: Db, id: number): Promise<void> {
  await db.deleteFrom('term_ends').where('id', '=', id).execute()
}

export async function countTermEndMembers(db: Db, termEndId: number): Promise<MemberCounts> {
  const rows = await db
    .selectFrom('term_end_members')
    .select(['state', ({ fn }) => fn.countAll<number | string>().as('count')])
    .where('term_end_id', '=', termEndId)
    .groupBy('state')
    .execute()
  const none: MemberCounts = { waiting: 0, archived: 0, mailed: 0, done: 0, kept: 0, failed: 0 }
  return { ...none, ...Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)])) }
}

const fromRow = (row: Selectable<TermEndsTable>): TermEnd => ({
  id: row.id,
  groupId: row.group_id,
  groupName: row.group_name,
  phase: row.phase,
  removesAccounts: row.removes_accounts === 1,
  removeAt: new Date(row.remove_at),
  keepUntil: new Date(row.keep_until),
  groupEnd: row.group_end === null ? null : new Date(row.group_end),
  startedAt: new Date(row.started_at),
  finishedAt: row.finished_at === null ? null : new Date(row.finished_at),
  actorId: row.actor_id,
  actorName: row.actor_name,
  language: row.language,
  problem: row.problem,
})
