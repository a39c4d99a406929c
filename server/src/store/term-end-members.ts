import type { Selectable } from 'kysely'
import type { Db } from './database.ts'
import type { TermEndMembersTable } from './term-end-tables.ts'

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
  return rows.map(fromRow)
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
  return rows.map(fromRow)
}

export async function findTermEndMember(db: Db, termEndId: number, userId: number): Promise<TermEndMember | undefined> {
  const row = await db
    .selectFrom('term_end_members')
    .selectAll()
    .where('term_end_id', '=', termEndId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && fromRow(row)
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

const fromRow = (row: Selectable<TermEndMembersTable>): TermEndMember => ({
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
