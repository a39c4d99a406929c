import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { requireManaged } from '#/groups/managed-group.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import { deleteGroundlessLooks, findLastLookEnd, listSharesOf, setShare } from '#/store/container-shares.ts'
import type { Database, Db } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import type { CountedGroup } from '#/store/groups.ts'
import { findContainer } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'
import { covers, isExpired } from '#/templates/group-directory.ts'
import type { Template, Templates } from '#/templates/template.ts'
import type { LookRequest, LookRequests } from './look-requests.ts'
import { maxShares, refuseUnshareable, shareEntry, type Sharer, type SharingSettings } from './shares.ts'

/** How long a look lasts that was agreed to, in ms, unless the settings or the end of the group allow less. */
const lookDuration = 60 * 60_000

export interface LooksParts {
  readonly database: Database
  readonly templates: Pick<Templates, 'get' | 'types'>
  readonly settings: Pick<SharingSettings, 'isOn' | 'maxDuration'>
  readonly requests: LookRequests
  /** Publishes what the store says now; resolves when the gateway has confirmed it, or the failure is reported. */
  readonly publish: (now: Date) => Promise<void>
}

/** A manager asks a member of a group to let them look at a container; nothing is opened before the member agrees. */
export class Looks {
  readonly #parts: LooksParts
  readonly #groundless: GroundlessLooks
  /** When two answer a request, the second one finds none. */
  readonly #mutex = new KeyedMutex()

  constructor(parts: LooksParts) {
    this.#parts = parts
    this.#groundless = new GroundlessLooks(parts.database.db)
  }

  /**
   * Shows the request on the open pages of the member, until it is answered or its time is over.
   * @returns the member's address
   * @throws {Refusal} 403 sharing is switched off, or as `requireLook` · 400, 404, 409 as `requireLook` · 429 declined,
   * or asked too often
   */
  async ask(actor: Actor & { readonly id: number }, target: Omit<LookTarget, 'managerId'>, now: Date): Promise<string> {
    const { database, templates, settings, requests } = this.#parts
    if (!settings.isOn) throw refusals.sharingOff()
    const { groupId, userId, type } = target
    const { group, email: member } = await requireLook(database.db, templates, { ...target, managerId: actor.id }, now)
    const { id, email } = actor
    // It is on the member's pages, and in the audit log, already.
    if (requests.openOf(id, { userId, type })) return member
    const request = requests.add({
      manager: { id, email },
      group: { id: groupId, name: group.name },
      owned: { userId, type },
    })
    try {
      const detail = { user: userId, type }
      await database.transaction((tx) =>
        insertAuditEntries(tx, [{ at: now, actor, action: 'group.ask-to-look', target: `group:${groupId}`, detail }]),
      )
    } catch (error) {
      requests.remove(request)
      throw error
    }
    requests.show(request)
    return member
  }

  /**
   * Agrees to a request: shares the container with this manager alone, to look, for an hour at most. The rules are checked again: the
   * request ends where it may no longer be made.
   * @returns the manager's address
   * @throws {Refusal} 403 switched off · 404 no such request, or it is over · 409 blocked, or too many shares
   */
  async agree(owner: Sharer, id: number, now: Date): Promise<string> {
    const manager = await this.#mutex.run(String(id), () => this.#agree(owner, id, now))
    await this.#parts.publish(now)
    return manager
  }

  /** Declines a request: the manager cannot ask again for a while. @throws {Refusal} 404 no such request, or it is over */
  async decline(owner: Sharer, id: number, now: Date): Promise<void> {
    await this.#mutex.run(String(id), () => this.#decline(owner, id, now))
  }

  async #agree(owner: Sharer, id: number, now: Date): Promise<string> {
    const { database, templates, settings, requests } = this.#parts
    if (!settings.isOn) throw refusals.sharingOff()
    const request = requests.of(owner.id, id)
    const { manager } = request
    const askedInId = request.group.id
    const target = targetOf(request)
    await database.transaction(async (tx) => {
      const { recordId, group } = await requireLook(tx, templates, target, now).catch((error: unknown) => {
        throw error instanceof Refusal && error.status !== 409 ? this.#over(request) : error
      })
      const length = Math.min(lookDuration, settings.maxDuration * 1_000)
      const until = new Date(Math.min(now.getTime() + length, group.expiresAt?.getTime() ?? Infinity))
      const to = { managerId: manager.id, askedInId }
      this.#groundless.note(until)
      await setShare(tx, { recordId, to, may: 'look', now, expiresAt: until })
      if ((await listSharesOf(tx, owner.id, target.type, now)).length > maxShares)
        throw refusals.conflict(message('sharing.tooMany', { max: maxShares }))
      const terms = {
        recordId,
        type: target.type,
        may: 'look',
        until,
        to: { email: manager.email, askedInId },
      } as const
      await insertAuditEntries(tx, [shareEntry('container.share', owner, terms, now)])
    })
    requests.remove(request)
    return manager.email
  }

  async #decline(owner: Sharer, id: number, now: Date): Promise<void> {
    const { database, requests } = this.#parts
    const request = requests.of(owner.id, id)
    const { manager, group, owned } = request
    const [target, detail] = [`group:${group.id}`, { user: manager.id, type: owned.type }]
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at: now, actor: owner, action: 'group.decline-look', target, detail }]),
    )
    requests.decline(request)
  }

  #over(request: LookRequest): Refusal {
    this.#parts.requests.remove(request)
    return refusals.notFound('lookRequest')
  }

  /** Ends requests and looks that may no longer be made, because members or groups have changed. @throws {StoreFailure} */
  async endGroundless(now: Date): Promise<void> {
    const { database, templates, requests } = this.#parts
    for (const request of requests.all())
      await requireLook(database.db, templates, targetOf(request), now).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
        requests.remove(request)
      })
    await this.#groundless.delete(now)
  }
}

const targetOf = ({ manager, group, owned }: LookRequest): LookTarget => ({
  managerId: manager.id,
  groupId: group.id,
  ...owned,
})

/** Who asks to look at which container of whom, as a member of which group. */
interface LookTarget {
  readonly managerId: number
  readonly groupId: number
  /** The member. */
  readonly userId: number
  readonly type: string
}

/** What a look is over, when it may be asked for and allowed. */
export interface AllowedLook {
  readonly group: CountedGroup
  /** Address of the member. */
  readonly email: string
  /** Id of the container's record. */
  readonly recordId: number
}

/**
 * The rules of a look, when it is asked for and again when it is allowed: a manager who is in the group, a member who
 * is not the manager, and a container of a type of the group that may be shared.
 * @throws {Refusal} 404 no such group, member or container · 403 no manager who is in the group, or the group has ended
 * · 400 no type of the group · 409 the type cannot be shared, or member or container is blocked
 */
async function requireLook(
  db: Db,
  templates: Pick<Templates, 'get' | 'types'>,
  { managerId, groupId, userId, type }: LookTarget,
  now: Date,
): Promise<AllowedLook> {
  const group = await requireManaged(db, { id: managerId }, groupId)
  // An administrator who is in no such role has no right to see the contents of containers.
  if ((await findMembership(db, groupId, managerId))?.role !== 'manager') throw refusals.lookByManagers()
  if (isExpired(group, now)) throw refusals.groupExpired(group.name)
  refuseUnshareable(templateOf(templates, group, type))
  const [membership, member] = [await findMembership(db, groupId, userId), await findUser(db, userId)]
  if (!membership || !member) throw refusals.groupNotFound('member')
  if (userId === managerId) throw refusals.conflict(message('sharing.ownContainer'))
  const record = await findContainer(db, userId, type)
  if (!record) throw refusals.notFound('container')
  if (member.isBlocked || record.isBlocked) throw refusals.conflict(message('sharing.blockedContainer'))
  return { group, email: member.email, recordId: record.id }
}

function templateOf(templates: Pick<Templates, 'get' | 'types'>, group: CountedGroup, type: string): Template {
  const template = covers(group, type) ? templates.get(type) : undefined
  if (!template) throw refusals.unknownType(templates.types.filter((each) => covers(group, each)))
  return template
}

/**
 * Deletes looks that have lost their reason; without any look it asks the store nothing. Looks are allowed in this
 * process alone.
 */
export class GroundlessLooks {
  readonly #db: Db
  /** After it there are no looks, once the store was read. */
  #lastEnd = new Date(0)
  #isRead = false

  constructor(db: Db) {
    this.#db = db
  }

  /** A look was allowed until then. */
  note(until: Date): void {
    if (this.#lastEnd < until) this.#lastEnd = until
  }

  /** @throws {StoreFailure} */
  async delete(now: Date): Promise<void> {
    if (this.#isRead && this.#lastEnd < now) return
    await deleteGroundlessLooks(this.#db, now)
    if (this.#isRead) return
    this.note((await findLastLookEnd(this.#db)) ?? new Date(0))
    this.#isRead = true
  }
}
