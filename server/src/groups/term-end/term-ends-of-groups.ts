import type { Actor } from '#/accounts/actor.ts'
import { administer } from '#/accounts/guards.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { refusals } from '#/refusals/errors.ts'
import type { GroupDirectory } from '#/templates/group-directory.ts'
import { isExpired } from '#/templates/group-directory.ts'
import { requireGroup } from '#/groups/group-rights.ts'
import { formatBytes } from '@berth/texts/format-bytes.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { setGroupEnd } from '#/store/groups.ts'
import { pageOf } from '#/store/page.ts'
import { listArchivesOf, listArchivesOfAll, sumArchives, type StoredArchive } from '#/store/home-archives.ts'
import {
  deleteTermEndMember,
  findTermEndMember,
  insertTermEndMembers,
  listTermEndMembers,
  retryMembers,
  type TermEndMember,
} from '#/store/term-end-members.ts'
import {
  countTermEndMembers,
  findTermEndOf,
  hasOpenTermEnd,
  insertTermEnd,
  moveTermEnd,
  setStartedBy,
  type MemberCounts,
  type TermEnd,
} from '#/store/term-ends.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { startedBy, type PreviewTermEnd } from './preview-term-end.ts'

/** Archives may be kept for two years, in ms. */
const maxKept = 2 * 366 * 86_400_000

export interface TermEndOptions {
  /** Nothing is removed before; undefined: as soon as all is archived and mailed. */
  readonly removeAt: Date | undefined
  readonly keepUntil: Date
  readonly removesAccounts: boolean
}

/** How far an end of term is. */
export interface TermEndProgress {
  readonly termEnd: TermEnd
  readonly counts: MemberCounts
  readonly archives: { readonly count: number; readonly bytes: number }
}

export interface TermEndMemberPage {
  readonly members: readonly (TermEndMember & { readonly archives: readonly StoredArchive[] })[]
  readonly next: number | null
}

export interface TermEndsOfGroupsParts {
  readonly database: Database
  readonly directory: Pick<GroupDirectory, 'refresh'>
  readonly preview: PreviewTermEnd
  readonly files: Pick<ArchiveFiles, 'remove'>
  readonly wake: () => void
}

/** The end of a group's term, for administrators: it is stored as a whole, and worked off by `TermEndWorker`. */
export class TermEndsOfGroups {
  readonly #parts: TermEndsOfGroupsParts

  constructor(parts: TermEndsOfGroupsParts) {
    this.#parts = parts
  }

  /**
   * Ends the group at once; everything else follows in the background.
   * @throws {Refusal} 403 as `administer` · 404 · 400 dates · 409 one is under way, homes cannot be archived, no
   * room · 500 the engine does not tell its homes
   */
  async begin(actor: Actor, groupId: number, options: TermEndOptions, now: Date): Promise<TermEndProgress> {
    const { database, preview } = this.#parts
    const { keepUntil, removesAccounts } = options
    const removeAt = options.removeAt && options.removeAt > now ? options.removeAt : now
    if (keepUntil <= removeAt || keepUntil.getTime() > now.getTime() + maxKept)
      throw refusals.badRequest(message('termEnd.badDates'))
    const planned = await preview.all(await preview.requireGroup(groupId), removesAccounts, now)
    const { bytes, freeBytes, hasRoom } = planned.sums
    if (!hasRoom)
      throw refusals.conflict(message('termEnd.noRoom', { needed: formatBytes(bytes), free: formatBytes(freeBytes) }))
    await administer(database, actor, async (tx) => {
      const group = await requireGroup(tx, groupId)
      if (await hasOpenTermEnd(tx, groupId)) throw refusals.conflict(message('termEnd.underWay'))
      if (!isExpired(group, now)) await setGroupEnd(tx, groupId, now)
      const fields = { groupId, groupName: group.name, removesAccounts, removeAt, keepUntil, groupEnd: group.expiresAt }
      const id = await insertTermEnd(tx, { ...fields, startedAt: now, ...startedBy(actor) })
      await insertTermEndMembers(tx, id, planned.concerned)
      const detail = {
        members: planned.concerned.length,
        remove_at: removeAt,
        keep_until: keepUntil,
        removes_accounts: removesAccounts,
      }
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.end-term', target: `group:${groupId}`, detail }])
    })
    crashPoint('term-end.after-store')
    return this.#changed(groupId)
  }

  /** The latest of the group; null when there is none, or its archives are deleted. @throws {Refusal} 404 */
  async find(groupId: number): Promise<TermEndProgress | null> {
    const { db } = this.#parts.database
    await requireGroup(db, groupId)
    const termEnd = await findTermEndOf(db, groupId)
    return termEnd ? progressOf(db, termEnd) : null
  }

  /** A page of those whom it concerns. @throws {Refusal} 404 */
  async members(
    groupId: number,
    { limit, after }: { readonly limit: number; readonly after: number },
  ): Promise<TermEndMemberPage> {
    const { db } = this.#parts.database
    await requireGroup(db, groupId)
    const termEnd = await findTermEndOf(db, groupId)
    if (!termEnd) return { members: [], next: null }
    const found = await listTermEndMembers(db, termEnd.id, { limit: limit + 1, after })
    const { rows, next } = pageOf(found, limit, ({ id }) => id)
    const archives = Map.groupBy(
      await listArchivesOfAll(
        db,
        rows.map(({ id }) => id),
      ),
      ({ memberId }) => memberId,
    )
    const members = rows.map((each) => ({ ...each, archives: archives.get(each.id) ?? [] }))
    return { members, next }
  }

  /**
   * Before anything is removed: archives and their links go, the group ends when it did before, homes are where they were.
   * @throws {Refusal} 403 as `administer` · 404 · 409 none is under way, or its removal has begun
   */
  async cancel(actor: Actor, groupId: number, now: Date): Promise<void> {
    await administer(this.#parts.database, actor, async (tx) => {
      const termEnd = await requireTermEnd(tx, groupId)
      if (!(await moveTermEnd(tx, termEnd.id, ['archiving'], 'cancelled', now)))
        throw refusals.conflict(message('termEnd.tooLate'))
      await setGroupEnd(tx, groupId, termEnd.groupEnd)
      const after = { expires_at: termEnd.groupEnd }
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'group.cancel-term-end', target: `group:${groupId}`, after },
      ])
    })
    await this.#parts.directory.refresh()
    this.#parts.wake()
  }

  /**
   * Members that failed begin again, and who asks answers for the rest.
   * @throws {Refusal} 403 as `administer` · 404 · 409 none is under way, none has failed, or archives are not kept any more
   */
  async retry(actor: Actor, groupId: number, now: Date): Promise<TermEndProgress> {
    await administer(this.#parts.database, actor, async (tx) => {
      const termEnd = await requireTermEnd(tx, groupId)
      if (termEnd.keepUntil <= now) throw refusals.conflict(message('termEnd.late'))
      const failed = await retryMembers(tx, termEnd.id)
      if (termEnd.phase === 'done') {
        if (failed === 0) throw refusals.conflict(message('termEnd.nothingFailed'))
        await moveTermEnd(tx, termEnd.id, ['done'], 'removing')
      }
      await setStartedBy(tx, termEnd.id, startedBy(actor))
      const detail = { failed }
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'group.retry-term-end', target: `group:${groupId}`, detail },
      ])
    })
    return this.#changed(groupId)
  }

  /**
   * Deletes what is kept of a member before its date: archives, address and links, as a person may ask for.
   * @throws {Refusal} 403 as `administer` · 404 · 409 the end of term is not over for them
   */
  async forgetMember(actor: Actor, groupId: number, userId: number, now: Date): Promise<void> {
    const { database, files } = this.#parts
    const archives = await administer(database, actor, async (tx) => {
      const { id } = await requireTermEnd(tx, groupId)
      const member = await findTermEndMember(tx, id, userId)
      if (!member) throw refusals.groupNotFound('member')
      if (!['done', 'kept', 'failed'].includes(member.state)) throw refusals.conflict(message('termEnd.notOver'))
      const found = await listArchivesOf(tx, member.id)
      await deleteTermEndMember(tx, member.id)
      const detail = { user: userId, types: found.map(({ type }) => type) }
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'group.delete-archives', target: `group:${groupId}`, detail },
      ])
      return found
    })
    for (const { file } of archives) await files.remove(file)
  }

  async #changed(groupId: number): Promise<TermEndProgress> {
    const { database, directory, wake } = this.#parts
    await directory.refresh()
    wake()
    return progressOf(database.db, await requireTermEnd(database.db, groupId))
  }
}

async function progressOf(db: Db, termEnd: TermEnd): Promise<TermEndProgress> {
  return { termEnd, counts: await countTermEndMembers(db, termEnd.id), archives: await sumArchives(db, termEnd.id) }
}

async function requireTermEnd(tx: Tx | Db, groupId: number): Promise<TermEnd> {
  await requireGroup(tx, groupId)
  const termEnd = await findTermEndOf(tx, groupId)
  if (!termEnd) throw refusals.conflict(message('termEnd.none'))
  return termEnd
}
