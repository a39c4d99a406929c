import type { Selectable } from 'kysely'
import type { Db, Tx } from './database.ts'
import type { TermEndMembersTable, TermEndsTable } from './schema.ts'

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
  return row && termEndFromRow(row)
}

export async function findTermEnd(db: Db, id: number): Promise<TermEnd | undefined> {
  const row = await db.selectFrom('term_ends').selectAll().where('id', '=', id).executeTakeFirst()
  return row && termEndFromRow(row)
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

/**
 * All, oldest first: those whose archives are kept, too. Few: one for a group in the time for which archives are kept.
 */
export async function listTermEnds(db: Db): Promise<TermEnd[]> {
  return (await db.selectFrom('term_ends').selectAll().orderBy('id').execute()).map(termEndFromRow)
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

const termEndFromRow = (row: Selectable<TermEndsTable>): TermEnd => ({
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

/**
 * Ends one whose archives are over before it was done: members that are left stay as they are and have failed, and
 * nothing is kept of the others, nor of the archives.
 * @returns how many have failed by it; undefined when it has ended meanwhile
 */
export async function giveUpTermEnd(tx: Tx, id: number, now: Date): Promise<number | undefined> {
  if (!(await moveTermEnd(tx, id, ['archiving', 'removing'], 'done', now))) return undefined
  await tx.deleteFrom('term_end_members').where('term_end_id', '=', id).where('state', 'in', ['done', 'kept']).execute()
  await tx
    .deleteFrom('home_archives')
    .where('member_id', 'in', (each) => each.selectFrom('term_end_members').select('id').where('term_end_id', '=', id))
    .execute()
  const { numUpdatedRows } = await tx
    .updateTable('term_end_members')
    .set({ state: 'failed', problem: 'late', retry_at: 0 })
    .where('term_end_id', '=', id)
    .where('state', '!=', 'failed')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

export type MemberState = TermEndMembersTable['state']
export type MemberProblem = NonNullable<TermEndMembersTable['problem']>
/** Why an account is not removed. */
export type StayReason = NonNullable<TermEndMembersTable['stays']>

/** A member whom an end of term concerns. */
export interface NewTermEndMember {
  readonly userId: number
  readonly email: string
  readonly slug: string
  /** Null: the account is removed. */
  readonly stays: StayReason | null
}

export interface TermEndMember extends NewTermEndMember {
  readonly id: number
  readonly termEndId: number
  readonly state: MemberState
  readonly problem: MemberProblem | null
  /** Attempts that failed since the last success. */
  readonly attempts: number
  readonly downloads: number
}

/** Rows in one statement. */
const insertedAtOnce = 200

/** All wait for their archives. */
export async function insertTermEndMembers(
  tx: Db,
  termEndId: number,
  members: readonly NewTermEndMember[],
): Promise<void> {
  for (let at = 0; at < members.length; at += insertedAtOnce) {
    const rows = members.slice(at, at + insertedAtOnce).map(({ userId, email, slug, stays }) => ({
      term_end_id: termEndId,
      user_id: userId,
      email,
      slug,
      stays,
      state: 'waiting' as const,
      problem: null,
      attempts: 0,
      retry_at: 0,
      downloads: 0,
    }))
    await tx.insertInto('term_end_members').values(rows).execute()
  }
}

/** Members in these states whose time has come, the ones that wait longest first. */
export async function listDueMembers(
  db: Db,
  termEndId: number,
  states: readonly MemberState[],
  now: Date,
  limit: number,
): Promise<TermEndMember[]> {
  const rows = await db
    .selectFrom('term_end_members')
    .selectAll()
    .where('term_end_id', '=', termEndId)
    .where('state', 'in', states)
    .where('retry_at', '<=', now.getTime())
    .orderBy('retry_at')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(memberFromRow)
}

/** A page by id. @param page `after`: id of the last row of the page before */
export async function listTermEndMembers(
  db: Db,
  termEndId: number,
  page: { readonly limit: number; readonly after: number },
): Promise<TermEndMember[]> {
  const rows = await db
    .selectFrom('term_end_members')
    .selectAll()
    .where('term_end_id', '=', termEndId)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute()
  return rows.map(memberFromRow)
}

export async function findTermEndMember(db: Db, termEndId: number, userId: number): Promise<TermEndMember | undefined> {
  const row = await db
    .selectFrom('term_end_members')
    .selectAll()
    .where('term_end_id', '=', termEndId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && memberFromRow(row)
}

/** With the rows of their archives, and links. */
export async function deleteTermEndMember(tx: Db, id: number): Promise<void> {
  await tx.deleteFrom('term_end_members').where('id', '=', id).execute()
}

/** All of a user, with the rows of their archives, and links. @returns the files of the archives */
export async function deleteTermEndMembersOf(tx: Db, userId: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('home_archives')
    .innerJoin('term_end_members', 'term_end_members.id', 'home_archives.member_id')
    .select('home_archives.file')
    .where('term_end_members.user_id', '=', userId)
    .execute()
  await tx.deleteFrom('term_end_members').where('user_id', '=', userId).execute()
  return rows.map(({ file }) => file)
}

/** A step is done, or cannot be done. */
export async function setMemberState(
  db: Db,
  id: number,
  state: MemberState,
  problem: MemberProblem | null = null,
): Promise<void> {
  await db
    .updateTable('term_end_members')
    .set({ state, problem, attempts: 0, retry_at: 0 })
    .where('id', '=', id)
    .execute()
}

/** A step failed and is tried again. */
export async function postponeMember(
  db: Db,
  id: number,
  attempt: { readonly problem: MemberProblem; readonly attempts: number; readonly retryAt: Date },
): Promise<void> {
  const { problem, attempts, retryAt } = attempt
  await db
    .updateTable('term_end_members')
    .set({ problem, attempts, retry_at: retryAt.getTime() })
    .where('id', '=', id)
    .execute()
}

/** Members that failed, or wait for another attempt, begin again at once. @returns how many had failed */
export async function retryMembers(tx: Db, termEndId: number): Promise<number> {
  await tx.updateTable('term_end_members').set({ retry_at: 0 }).where('term_end_id', '=', termEndId).execute()
  const { numUpdatedRows } = await tx
    .updateTable('term_end_members')
    .set({ state: 'waiting', problem: null, attempts: 0 })
    .where('term_end_id', '=', termEndId)
    .where('state', '=', 'failed')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

const memberFromRow = (row: Selectable<TermEndMembersTable>): TermEndMember => ({
  id: row.id,
  termEndId: row.term_end_id,
  userId: row.user_id,
  email: row.email,
  slug: row.slug,
  stays: row.stays,
  state: row.state,
  problem: row.problem,
  attempts: row.attempts,
  downloads: row.downloads,
})
