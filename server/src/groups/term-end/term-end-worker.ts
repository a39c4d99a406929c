import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { archiveEmail, type MailLook } from '#/accounts/mail/link-email.ts'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import { hashToken, newToken } from '#/accounts/sign-up/magic-link.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { runForNoRequest } from '#/machine/log-context.ts'
import type { OverdueDates } from '#/machine/settled-dates.ts'
import type { Database, Db } from '#/store/database.ts'
import {
  countTermEndMembers,
  deleteTermEnd,
  giveUpTermEnd,
  isUnderWay,
  listDueMembers,
  listTermEnds,
  moveTermEnd,
  postponeMember,
  setMemberState,
  setTermEndProblem,
  type MemberProblem,
  type TermEnd,
  type TermEndMember,
} from '#/store/term-ends.ts'
import { findMembership } from '#/store/group-members.ts'
import {
  hasAcceptedLink,
  insertArchiveLink,
  listArchiveFiles,
  listArchivesOf,
  noteLinkAccepted,
} from '#/store/home-archives.ts'
import { findUser } from '#/store/users.ts'
import type { GroupDirectory } from '#/templates/group-directory.ts'
import type { ArchiveStore } from '#/homes/archive-store.ts'
import { archivesKey, ArchiveTooLarge, pauseFor, type ArchiveMember } from './archive-member.ts'
import type { MemberOutcomes, PlannedMember } from './member-outcomes.ts'
import type { RemoveMember } from './remove-member.ts'

/** Homes that are read at the same time. */
const maxParallelArchives = 2
/** Members that are removed at the same time. */
const maxParallelRemovals = 4
/** Members of one end of term in a row, before another has its turn. */
const batchSize = 20
/** Attempts for one member, over some two hours. */
const maxAttempts = 8
/** Pause after the first failure, in ms; four times as long after each further one, up to the max. */
const [firstPause, maxPause] = [2_000, 3_600_000]
/** The same after a home for which archives have no room, in ms: eight attempts take a day, in which an administrator can make room. */
const roomPause = 3 * 3_600_000
/** How long an administrator can read which members were given up, in ms. */
const givenUpShown = 7 * 86_400_000

export interface TermEndWorkerParts {
  readonly database: Database
  readonly directory: Pick<GroupDirectory, 'find' | 'isEmpty'>
  readonly outcomes: MemberOutcomes
  readonly archiveMember: ArchiveMember
  readonly removeMember: RemoveMember
  readonly mail: MailArchivesParts
  readonly files: ArchiveStore
  readonly dates: OverdueDates
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Works off ends of terms, step by step from the states in the store, so that a process that is killed goes on where it was:
 * each step is repeatable, and is noted after it is done. Woken by the reconciler and by each change of an administrator;
 * without an end of term it asks the store nothing once a look has found none. A clock that is wrong for a moment deletes no
 * archive, gives nothing up, and begins no removal that was put off to a date (`OverdueDates`).
 */
export class TermEndWorker {
  readonly #parts: TermEndWorkerParts
  readonly #end = new AbortController()
  #running: Promise<void> | undefined
  #isWanted = false
  /** False when the last look found none, and none was begun since. */
  #mayHaveWork = true

  constructor(parts: TermEndWorkerParts) {
    this.#parts = parts
  }

  /** Something was begun or changed here. */
  wake(): void {
    this.#mayHaveWork = true
    this.#isWanted = true
    if (!this.#end.signal.aborted) this.#running ??= runForNoRequest(() => this.#runWhileWanted())
  }

  /** Called regularly: goes on with what was due later, failed, or was begun by another process. */
  wakeIfNeeded(): void {
    if (this.#mayHaveWork || !this.#parts.directory.isEmpty) this.wake()
  }

  /** Nothing begins afterwards; a read of a home is aborted. Resolves when the step under way has ended. */
  async close(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  get #isClosed(): boolean {
    return this.#end.signal.aborted
  }

  async #runWhileWanted(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isClosed) {
        this.#isWanted = false
        const termEnds = await listTermEnds(this.#parts.database.db)
        this.#mayHaveWork = termEnds.length > 0
        for (const termEnd of termEnds) if (!this.#isClosed && (await this.#advance(termEnd))) this.#isWanted = true
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'working off the end of a term failed; it is retried')
    } finally {
      this.#running = undefined
    }
  }

  /** @returns whether there may be more to do now */
  async #advance(termEnd: TermEnd): Promise<boolean> {
    const { dates } = this.#parts
    const now = new Date()
    if (termEnd.phase === 'cancelled') return this.#delete(termEnd)
    if (termEnd.phase === 'done') return dates.isOver(termEnd.id, deletionDate(termEnd)) ? this.#delete(termEnd) : false
    const isLate = dates.isOver(termEnd.id, termEnd.keepUntil)
    if (termEnd.keepUntil <= now) return isLate ? this.#giveUp(termEnd, now) : false
    try {
      const isMoved =
        (await this.#archiveDue(termEnd)) || (await this.#removeDue(termEnd)) || (await this.#move(termEnd))
      if (termEnd.problem !== null) await setTermEndProblem(this.#parts.database.db, termEnd.id, null)
      return isMoved
    } catch (error) {
      const pause = pauseFor(error)
      if (!pause) throw error
      if (pause.problem === termEnd.problem) return false
      this.#parts.log.warn({ err: pause, termEnd: termEnd.id }, 'the end of a term waits')
      await setTermEndProblem(this.#parts.database.db, termEnd.id, pause.problem)
      return false
    }
  }

  async #delete(termEnd: TermEnd): Promise<boolean> {
    const { id, phase } = termEnd
    await this.#removeArchives(termEnd, await listArchiveFiles(this.#parts.database.db, id))
    await deleteTermEnd(this.#parts.database.db, id)
    this.#parts.dates.forget(id)
    this.#parts.log.info({ termEnd: id, phase }, 'archives of the end of a term were deleted')
    return false
  }

  /** What is not removed by the date stays: without an archive it would be lost. */
  async #giveUp(termEnd: TermEnd, now: Date): Promise<boolean> {
    const { database, log } = this.#parts
    const { id, keepUntil } = termEnd
    const files = await listArchiveFiles(database.db, id)
    const failed = await database.transaction((tx) => giveUpTermEnd(tx, id, now))
    await this.#removeArchives(termEnd, files)
    log.warn({ termEnd: id, keepUntil, failed }, 'the date of the archives passed before the end of a term was done')
    return true
  }

  /** @param stored files that the store names: before 1.0.0 they were in a folder that another end of term may use */
  async #removeArchives(termEnd: TermEnd, stored: readonly string[]): Promise<void> {
    const { files } = this.#parts
    for (const file of stored) await files.remove(file)
    await files.removeAll(archivesKey(termEnd))
  }

  async #archiveDue(termEnd: TermEnd): Promise<boolean> {
    return this.#eachDue(termEnd, ['waiting', 'archived'], maxParallelArchives, async (member) => {
      if (member.state === 'waiting' && !(await this.#archive(termEnd, member))) return
      await this.#attempt(member, 'mail', async () => {
        const isMailed = await mailArchives(this.#parts.mail, termEnd, member)
        if (isMailed) await setMemberState(this.#parts.database.db, member.id, 'mailed')
      })
    })
  }

  /** @returns whether a mail is due */
  async #archive(termEnd: TermEnd, member: TermEndMember): Promise<boolean> {
    const { database, archiveMember } = this.#parts
    return this.#attempt(member, 'archive', async () => {
      const planned = await this.#outcomeOf(termEnd, member)
      if (!planned) return false
      if (planned.outcome.untouched !== null) {
        await setMemberState(database.db, member.id, 'kept', 'changed')
        return false
      }
      await archiveMember.run(member, planned.outcome.ends, this.#end.signal)
      await setMemberState(database.db, member.id, 'archived')
      return true
    })
  }

  async #removeDue(termEnd: TermEnd): Promise<boolean> {
    if (termEnd.phase !== 'removing') return false
    return this.#eachDue(termEnd, ['mailed'], maxParallelRemovals, (member) =>
      this.#attempt(member, 'removal', async () => {
        const planned = await this.#outcomeOf(termEnd, member)
        if (planned) await this.#parts.removeMember.run(termEnd, member, planned, new Date())
      }),
    )
  }

  /** To the next phase, when no member is left in this one. */
  async #move(termEnd: TermEnd): Promise<boolean> {
    const { id, phase } = termEnd
    const { db } = this.#parts.database
    const { waiting, archived, mailed } = await countTermEndMembers(db, id)
    if (waiting + archived > 0) return false
    if (phase === 'archiving') return this.#mayRemove(termEnd) && moveTermEnd(db, id, ['archiving'], 'removing')
    return mailed === 0 && (await moveTermEnd(db, id, ['removing'], 'done', new Date()))
  }

  /** At once where no later date was asked for. */
  #mayRemove({ id, removeAt, startedAt }: TermEnd): boolean {
    return removeAt <= startedAt || this.#parts.dates.isOver(id, removeAt)
  }

  /**
   * Ends early when it was cancelled meanwhile, or its date has passed: a batch may take hours.
   * @returns whether a member was due @throws {TermEndPaused} after those that are under way have ended
   */
  async #eachDue(
    termEnd: TermEnd,
    states: readonly TermEndMember['state'][],
    maxParallel: number,
    work: (member: TermEndMember) => Promise<unknown>,
  ): Promise<boolean> {
    const { db } = this.#parts.database
    const due = await listDueMembers(db, termEnd.id, states, new Date(), batchSize)
    let failure: { readonly error: unknown } | undefined
    const run = async (member: TermEndMember) => {
      if (this.#isClosed || failure) return
      try {
        if (await isUnderWay(db, termEnd.id, termEnd.phase, new Date())) await work(member)
      } catch (error) {
        failure = { error }
      }
    }
    await pLimit(maxParallel).map(due, run)
    if (failure) throw failure.error
    return due.length > 0
  }

  /**
   * One step of one member. A failure is noted and tried again later; after the last attempt the member is left as they are.
   * @throws {TermEndPaused} @throws {StoreFailure}
   */
  async #attempt(member: TermEndMember, what: MemberProblem, step: () => Promise<boolean | void>): Promise<boolean> {
    try {
      return (await step()) !== false
    } catch (error) {
      if (this.#isClosed) return false
      const pause = pauseFor(error)
      if (pause) throw pause
      await this.#postpone(member, what, error)
      return false
    }
  }

  async #postpone(member: TermEndMember, problem: MemberProblem, error: unknown): Promise<void> {
    const { database, log } = this.#parts
    const attempts = member.attempts + 1
    log.warn({ err: error, user: member.userId, attempts }, `the end of a term: ${problem} failed`)
    if (attempts >= maxAttempts) return setMemberState(database.db, member.id, 'failed', problem)
    const pause = error instanceof ArchiveTooLarge ? roomPause : Math.min(maxPause, firstPause * 4 ** member.attempts)
    const retryAt = new Date(Date.now() + pause)
    await postponeMember(database.db, member.id, { problem, attempts, retryAt })
  }

  /** By the facts of this moment; undefined, which is noted, when the account is gone, or has left the group. */
  async #outcomeOf(termEnd: TermEnd, { id, userId, slug }: TermEndMember): Promise<PlannedMember | undefined> {
    const { database, directory, outcomes } = this.#parts
    const user = await findUser(database.db, userId)
    const [group] = directory.find(termEnd.groupId === null ? [] : [termEnd.groupId])
    const membership = group && (await findMembership(database.db, group.id, userId))
    if (!user || user.slug !== slug) await setMemberState(database.db, id, 'done')
    else if (!group || !membership) await setMemberState(database.db, id, 'kept', 'changed')
    else {
      const members = [{ user, role: membership.role }]
      return (await outcomes.of(group, members, termEnd.removesAccounts, new Date()))[0]
    }
    return undefined
  }
}

/** When archives are deleted; members who were given up are named for a while longer. */
function deletionDate({ keepUntil, finishedAt }: TermEnd): Date {
  const isGivenUp = finishedAt !== null && finishedAt >= keepUntil
  return isGivenUp ? new Date(finishedAt.getTime() + givenUpShown) : keepUntil
}

interface MailArchivesParts {
  readonly db: Db
  readonly mailer: Mailer
  /** Address of a page of the front end. */
  readonly pageUrl: (path: string) => string
  readonly look: () => MailLook | undefined
}

/**
 * Mails a member the link to their archives; nothing to a member without any, or who has a mail already. Its hash is stored
 * before it is mailed, so that no accepted mail has a link that leads nowhere: after a crash there may be two mails.
 * @returns false, and nothing is sent, when it was cancelled or its date has passed @throws when the mail is not accepted
 */
async function mailArchives(
  { db, mailer, pageUrl, look }: MailArchivesParts,
  termEnd: TermEnd,
  member: TermEndMember,
): Promise<boolean> {
  if (!(await isUnderWay(db, termEnd.id, termEnd.phase, new Date()))) return false
  const archives = await listArchivesOf(db, member.id)
  if (archives.length === 0 || (await hasAcceptedLink(db, member.id))) return true
  const token = newToken()
  await insertArchiveLink(db, member.id, hashToken(token), new Date())
  await mailer.send(
    archiveEmail({
      to: member.email,
      group: termEnd.groupName,
      // In the query, from which the server takes it. Behind the #, pages of containers would see it.
      url: `${pageUrl('/archive')}?token=${token}`,
      keepUntil: termEnd.keepUntil,
      removesAccountAt: member.stays === null ? termEnd.removeAt : null,
      language: termEnd.language,
      look: look(),
    }),
  )
  crashPoint('term-end.after-mail')
  await noteLinkAccepted(db, hashToken(token), new Date())
  return true
}
