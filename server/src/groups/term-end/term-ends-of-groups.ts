import { formatBytes, message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer } from '#/accounts/administrator-changes.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { requireGroup } from '#/groups/managed-group.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { setGroupEnd, type CountedGroup } from '#/store/groups.ts'
import { listArchivesOf, listArchivesOfAll, sumArchives, type StoredArchive } from '#/store/home-archives.ts'
import { pageOf } from '#/store/pagination.ts'
import {
  countTermEndMembers,
  deleteTermEndMember,
  findTermEndMember,
  findTermEndOf,
  hasOpenTermEnd,
  insertTermEnd,
  insertTermEndMembers,
  listTermEndMembers,
  moveTermEnd,
  retryMembers,
  setStartedBy,
  type MemberCounts,
  type NewTermEndMember,
  type TermEnd,
  type TermEndMember,
} from '#/store/term-ends.ts'
import { isExpired, type GroupDirectory } from '#/templates/group-directory.ts'
import type { ArchiveStore } from '#/homes/archive-store.ts'
import type { MemberOutcomes, PlannedMember } from './member-outcomes.ts'

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
  readonly files: Pick<ArchiveStore, 'remove'>
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
   * @throws {Refusal} 403 as `administer` · 404 · 409 none is under way, none has failed, archives are not kept any more, or it is
   * done and the group was given a later end since
   */
  async retry(actor: Actor, groupId: number, now: Date): Promise<TermEndProgress> {
    await administer(this.#parts.database, actor, async (tx) => {
      const termEnd = await requireTermEnd(tx, groupId)
      if (termEnd.keepUntil <= now) throw refusals.conflict(message('termEnd.late'))
      const failed = await retryMembers(tx, termEnd.id)
      if (termEnd.phase === 'done') {
        if (failed === 0) throw refusals.conflict(message('termEnd.nothingFailed'))
        // While it is under way, the group cannot be changed.
        if (!isExpired(await requireGroup(tx, groupId), now)) throw refusals.conflict(message('termEnd.groupGoesOn'))
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

/** Members that are planned at once. */
const plannedMembers = 500

export interface PreviewTermEndParts {
  readonly db: Db
  readonly outcomes: MemberOutcomes
  readonly files: ArchiveStore
  /** Whether the engine can read homes, and archives have a folder that every node reaches. */
  readonly canArchive: () => 'yes' | 'engine' | 'nodes'
  readonly bytesOf: (owner: { readonly userId: number; readonly slug: string }, type: string) => number | undefined
}

/** What an end of term will do, in numbers. */
export interface TermEndSums {
  readonly members: number
  readonly accounts: number
  /** Members who keep their account and leave the group. */
  readonly staying: number
  /** Members whom it leaves as they are. */
  readonly untouched: number
  /** Records of containers that are removed. */
  readonly containers: number
  readonly homes: number
  /** Bytes of the homes whose size is known. */
  readonly bytes: number
  readonly homesWithoutSize: number
  /** That archives may take on their disk. */
  readonly freeBytes: number
  readonly hasRoom: boolean
}

export interface TermEndPreview {
  /** With the first page alone. */
  readonly sums: TermEndSums | null
  readonly members: readonly PreviewedMember[]
  /** Id after which the next page begins; null after the last. */
  readonly next: number | null
}

export type PreviewedMember = PlannedMember & {
  /** Homes that are archived, with their sizes as far as they are known. */
  readonly archives: readonly { readonly type: string; readonly bytes: number | null }[]
}

/** Says what an end of term does, without doing anything; and the same in full for the one that begins. */
export class PreviewTermEnd {
  readonly #parts: PreviewTermEndParts

  constructor(parts: PreviewTermEndParts) {
    this.#parts = parts
  }

  /** @throws {Refusal} 404 · 409 homes cannot be archived here · 500 the engine does not tell its homes */
  async page(
    groupId: number,
    { limit, after }: { readonly limit: number; readonly after: number },
    removesAccounts: boolean,
    now: Date,
  ): Promise<TermEndPreview> {
    const group = await this.requireGroup(groupId)
    const found = await this.#parts.outcomes
      .page(group, { limit: limit + 1, after }, removesAccounts, now)
      .catch(refuseSilentEngine)
    const { rows, next } = pageOf(found, limit, ({ user }) => user.id)
    const members = rows.map((each) => this.#withSizes(each))
    const sums = after === 0 ? (await this.all(group, removesAccounts, now)).sums : null
    return { sums, members, next }
  }

  /** All whom it concerns, and the sums. @throws {Refusal} 500 as `page` */
  async all(
    group: CountedGroup,
    removesAccounts: boolean,
    now: Date,
  ): Promise<{ readonly sums: TermEndSums; readonly concerned: NewTermEndMember[] }> {
    const { outcomes, files } = this.#parts
    const sums = { members: 0, accounts: 0, staying: 0, untouched: 0, containers: 0, homes: 0, bytes: 0 }
    let homesWithoutSize = 0
    const concerned: NewTermEndMember[] = []
    for (let after = 0; ;) {
      const page = await outcomes
        .page(group, { limit: plannedMembers, after }, removesAccounts, now)
        .catch(refuseSilentEngine)
      for (const { user, outcome, records, archives } of page.map((each) => this.#withSizes(each))) {
        sums.members++
        if (outcome.untouched !== null) sums.untouched++
        else {
          sums[outcome.stays === null ? 'accounts' : 'staying']++
          sums.containers += records.filter(({ type }) => outcome.ends.includes(type)).length
          concerned.push({ userId: user.id, email: user.email, slug: user.slug, stays: outcome.stays })
        }
        sums.homes += archives.length
        sums.bytes += archives.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
        homesWithoutSize += archives.filter(({ bytes }) => bytes === null).length
      }
      after = page.at(-1)?.user.id ?? after
      if (page.length < plannedMembers) break
    }
    const freeBytes = await files.freeBytes()
    return {
      sums: { ...sums, homesWithoutSize, freeBytes, hasRoom: freeBytes > 0 && freeBytes >= sums.bytes },
      concerned,
    }
  }

  /** @throws {Refusal} 404 · 409 homes cannot be archived here */
  async requireGroup(groupId: number): Promise<CountedGroup> {
    const group = await requireGroup(this.#parts.db, groupId)
    const can = this.#parts.canArchive()
    if (can === 'engine') throw refusals.conflict(message('termEnd.engineCannot'))
    if (can === 'nodes') throw refusals.conflict(message('termEnd.nodesNeedFolder'))
    return group
  }

  #withSizes(planned: PlannedMember): PreviewedMember {
    const { outcome, homes, user } = planned
    const types = outcome.untouched === null ? outcome.ends.filter((type) => homes.has(type)) : []
    const owner = { userId: user.id, slug: user.slug }
    return { ...planned, archives: types.map((type) => ({ type, bytes: this.#parts.bytesOf(owner, type) ?? null })) }
  }
}

/** Who asked for it, as it is stored. */
const startedBy = ({ id, email, language }: Actor) => ({ actorId: id, actorName: email, language })

function refuseSilentEngine(error: unknown): never {
  throw error instanceof RuntimeError ? refusals.homesUnknown(error) : error
}
