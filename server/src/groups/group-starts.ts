import pLimit from 'p-limit'
import type { Logger } from 'pino'
import type { Actor } from '#/accounts/actor.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { findContainer, type ContainerRef } from '#/store/user-containers.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import type { AdmissionControl, Spawner } from '#/containers/open-containers.ts'
import type { Template, Templates } from '#/templates/template.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findMembership, listMembers } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { findUser, type User } from '#/store/users.ts'
import { covers, isExpired } from '#/templates/group-directory.ts'
import { requireManaged } from './managed-group.ts'

/** Members in one transaction. */
const pageSize = 500
/** Launches of one start for all that are queued or under way at the same time; others wait before the launch queue. */
const maxParallel = 64
/** How long a request waits for refusals of launches, in ms; the launches continue after it. */
const answerTimeout = 3_000

export interface GroupStartsParts {
  readonly database: Database
  readonly templates: Pick<Templates, 'get' | 'types'>
  readonly rules: Pick<LaunchRules, 'refusalFor'>
  readonly spawner: Pick<Spawner, 'prestart' | 'replace'>
  readonly admission: Pick<AdmissionControl, 'isUp'>
  /** Called before each launch. */
  readonly onStart: (owned: ContainerRef) => void
  readonly log: Pick<Logger, 'warn'>
}

/** What became of the starts of a group by the time of the answer. */
export interface GroupStart {
  /** Containers that are started, or wait for it. */
  readonly count: number
  readonly refused: number
  /** Why the last launch that was refused was so. */
  readonly why: LocalizedMessage | null
}

/**
 * Starts of members' containers by managers. A start of all waits behind launches that users ask for themselves; each obeys the
 * limits, blocks and rules of a launch by its owner, and is no use of the account.
 */
export class GroupStarts {
  readonly #parts: GroupStartsParts
  /** How often the starts of a group were cancelled, by its id. */
  readonly #cancelled = new Map<number, number>()
  #isClosed = false

  constructor(parts: GroupStartsParts) {
    this.#parts = parts
  }

  /**
   * Starts the containers of this type of all members who are not managers; those that run or are paused stay as they are.
   * @throws {Refusal} 404 · 403, also of an expired group · 400 no type of the group
   */
  async start(actor: Actor, groupId: number, type: string, now: Date): Promise<GroupStart> {
    const { database, admission } = this.#parts
    const group = await requireManaged(database.db, actor, groupId)
    const template = this.#requireTemplate(group, type)
    if (isExpired(group, now)) throw refusals.groupExpired(group.name)
    const outcome = { count: 0, refused: 0, why: null as LocalizedMessage | null }
    const limit = pLimit(maxParallel)
    const launches: Promise<void>[] = []
    const before = this.#cancelled.get(groupId)
    const isWanted = () => !this.#isClosed && this.#cancelled.get(groupId) === before
    for await (const users of this.#membersOf(groupId)) {
      if (!isWanted()) break
      const due = users.filter(({ id }) => !admission.isUp({ userId: id, type }))
      await this.#audit(actor, groupId, type, due, now)
      outcome.count += due.length
      launches.push(...due.map((user) => limit(() => this.#launch(user, template, outcome, isWanted))))
    }
    await withTimeout(answerTimeout, Promise.all(launches))
    return { ...outcome, count: outcome.count - outcome.refused }
  }

  /**
   * Replaces a member's container; the home stays. It begins before the answer and ends after it; a failure is shown with the
   * state of the member.
   * @throws {Refusal} 404 no such group or member · 403 · 400 no type of the group · 409 the member may not launch it
   */
  async restart(actor: Actor, groupId: number, userId: number, type: string, now: Date): Promise<void> {
    const { database, rules, spawner, log } = this.#parts
    const group = await requireManaged(database.db, actor, groupId)
    const template = this.#requireTemplate(group, type)
    const [membership, user] = [await findMembership(database.db, groupId, userId), await findUser(database.db, userId)]
    if (!membership || !user) throw refusals.groupNotFound('member')
    if (user.isBlocked) throw refusals.conflict(message('groups.memberBlocked'))
    if (isExpired(group, now)) throw refusals.groupExpired(group.name)
    if (await rules.refusalFor(user, template, now)) throw refusals.conflict(message('groups.memberMayNot'))
    const record = await findContainer(database.db, userId, type)
    if (record?.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    const [target, detail] = [`group:${groupId}`, { user: userId, type }]
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at: now, actor, action: 'group.restart-container', target, detail }]),
    )
    spawner
      .replace(user, template, now)
      .catch((error: unknown) => log.warn({ err: causeOf(error), userId, type }, 'a restart by a manager failed'))
  }

  /** Members of this group are to have no containers now: of starts that are under way, what waits is not started any more. */
  cancel(groupId: number): void {
    this.#cancelled.set(groupId, (this.#cancelled.get(groupId) ?? 0) + 1)
  }

  /** What waits is not started any more. */
  close(): void {
    this.#isClosed = true
  }

  /** Never throws. @param isWanted whether nothing has cancelled it */
  async #launch(
    user: User,
    template: Template,
    outcome: { count: number; refused: number; why: LocalizedMessage | null },
    isWanted: () => boolean,
  ): Promise<void> {
    const { rules, spawner, log, onStart } = this.#parts
    try {
      const refusal = isWanted() ? await rules.refusalFor(user, template, new Date()) : undefined
      if (refusal) throw refusal
      if (!isWanted()) return void outcome.count--
      onStart({ userId: user.id, type: template.type })
      await spawner.prestart(user, template, new Date())
    } catch (error) {
      outcome.refused++
      if (error instanceof Refusal) outcome.why = error.sentence
      // The state of the member says why.
      else log.warn({ err: error, userId: user.id, type: template.type }, 'a start by a manager failed')
    }
  }

  async *#membersOf(groupId: number): AsyncGenerator<User[]> {
    for (let after = 0; ;) {
      const page = await listMembers(this.#parts.database.db, groupId, { limit: pageSize, after })
      yield page.filter(({ user, role }) => role === 'member' && !user.isBlocked).map(({ user }) => user)
      if (page.length < pageSize) return
      after = page.at(-1)?.user.id ?? after
    }
  }

  async #audit(actor: Actor, groupId: number, type: string, users: readonly User[], at: Date): Promise<void> {
    if (users.length === 0) return
    const [target, detail] = [`group:${groupId}`, { containers: users.map(({ id }) => ({ user: id, type })) }]
    await this.#parts.database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'group.start', target, detail }]),
    )
  }

  #requireTemplate(group: Pick<Group, 'types'>, type: string): Template {
    const { templates } = this.#parts
    const template = covers(group, type) ? templates.get(type) : undefined
    if (!template) throw refusals.unknownType(templates.types.filter((each) => covers(group, each)))
    return template
  }
}

const causeOf = (error: unknown) => (error instanceof Refusal ? (error.cause ?? error.message) : error)
