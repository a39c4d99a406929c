import { isAllowedPort } from '@berth/gateway/basics/container-port.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer, ownerId } from '#/accounts/administrator-changes.ts'
import type { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import { parseNewEmail } from '#/accounts/sign-up/email-address.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import {
  deleteShare,
  findShare,
  listSharedWith,
  listShares,
  listSharesOf,
  setShare,
  type ContainerShare,
  type ShareRight,
} from '#/store/container-shares.ts'
import type { Database, Tx } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import { findGroup } from '#/store/groups.ts'
import { pageOf } from '#/store/pagination.ts'
import { findContainer } from '#/store/user-containers.ts'
import { covers, isExpired } from '#/templates/group-directory.ts'
import { furtherPortsOf, type Template, type Templates } from '#/templates/template.ts'

/** Shares of one container. */
export const maxShares = 50
/** Containers of others that a user sees. */
const maxSharedWith = 200

/** Who shares, for the audit log. */
export interface Sharer {
  readonly id: number
  readonly email: string
  /** Network address of the request. */
  readonly address: string
}

export interface ShareRequest {
  /** At least one, or a group. */
  readonly emails: readonly string[]
  readonly groupId: number | undefined
  readonly may: ShareRight
  readonly until: Date
  /** Further port of the container that it opens and nothing else; null: the main one. */
  readonly port: number | null
}

interface SharesParts {
  readonly database: Database
  readonly templates: Pick<Templates, 'get' | 'openTypes'>
  readonly settings: SharingSettings
  readonly changes: Pick<OwnChangeLimit, 'count'>
  /** Publishes what the store says now; resolves when the gateway has confirmed it, or the failure is reported. */
  readonly publish: (now: Date) => Promise<void>
  /** Called when a share of the container has ended. */
  readonly onEnd: (owned: { readonly userId: number; readonly type: string }) => void
}

/** Containers of others that are shared with this user. None while sharing is switched off. @throws {StoreFailure} */
export async function listShared(
  { settings, database, templates }: Pick<SharesParts, 'settings' | 'database' | 'templates'>,
  visitor: { readonly id: number; readonly email: string },
  now: Date,
): Promise<ContainerShare[]> {
  if (!settings.isOn) return []
  const all = await listSharedWith(database.db, visitor, now, maxSharedWith)
  return all.filter((share) => templates.get(share.type) && isAllowed(share, settings))
}

/** Shares of a container by its owner: who else may look at it, or use it, and until when (decision 061). */
export class Shares {
  readonly #parts: SharesParts

  constructor(parts: SharesParts) {
    this.#parts = parts
  }

  /** Shares of the owner's container that have not ended. @throws {Refusal} 400 unknown type */
  async list(userId: number, type: string, now: Date): Promise<ContainerShare[]> {
    this.#template(type)
    return listSharesOf(this.#parts.database.db, userId, type, now)
  }

  /** What others share with this visitor: see `listShared`. */
  async sharedWith(visitor: { readonly id: number; readonly email: string }, now: Date): Promise<ContainerShare[]> {
    return listShared(this.#parts, visitor, now)
  }

  /**
   * Shares the owner's container. Whether an address has an account is not looked up, so the answer does not tell; a
   * share with an address that has none counts once it has signed up.
   * @throws {Refusal} 400 unknown type, wrong end or address · 403 switched off, or blocked · 404 no such container, or
   * no such group of the owner's · 409 the type cannot be shared, or too many shares · 429 too many changes
   */
  async share(owner: Sharer, type: string, request: ShareRequest, now: Date): Promise<void> {
    const { database, changes, publish } = this.#parts
    const template = this.#template(type)
    if (request.port === null) refuseUnshareable(template)
    else refuseUnshareablePort(template, request.port)
    const targets = this.#targetsOf(owner, request)
    this.#checkEnd(request.until, now)
    await database.transaction(async (tx) => {
      const record = await findContainer(tx, owner.id, type)
      if (!record) throw refusals.notFound('container')
      if (record.isBlocked) throw refusals.containerBlocked(record.blockedAt)
      if (request.groupId !== undefined) await requireMembership(tx, request.groupId, owner.id, now)
      const before = await listSharesOf(tx, owner.id, type, now)
      const changed = targets.filter((to) => !before.some((share) => isAsWanted(share, to, request)))
      changes.count(owner.id, changed.length)
      for (const to of changed)
        await setShare(tx, {
          recordId: record.id,
          to,
          may: request.may,
          port: request.port,
          now,
          expiresAt: request.until,
        })
      if ((await listSharesOf(tx, owner.id, type, now)).length > maxShares)
        throw refusals.conflict(message('sharing.tooMany', { max: maxShares }))
      const terms = { recordId: record.id, type, may: request.may, port: request.port, until: request.until }
      await insertAuditEntries(
        tx,
        changed.map((to) => shareEntry('container.share', owner, { ...terms, to }, now)),
      )
    })
    await publish(now)
  }

  /** Ends a share of the owner's; what is open by it is cut when this resolves. @throws {Refusal} 404 */
  async end(owner: Sharer, type: string, id: number, now: Date): Promise<void> {
    const { database, publish, onEnd } = this.#parts
    await database.transaction(async (tx) => {
      const share = await findShare(tx, id)
      if (share?.owner.id !== owner.id || share.type !== type) throw refusals.notFound('share')
      await deleteShare(tx, id)
      await insertAuditEntries(tx, [shareEntry('container.unshare', owner, termsOf(share), now)])
    })
    await publish(now)
    onEnd({ userId: owner.id, type })
  }

  #template(type: string): Template {
    const { templates } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.openTypes)
    return template
  }

  #targetsOf(owner: Sharer, { emails, groupId }: ShareRequest): ShareTerms['to'][] {
    const { settings } = this.#parts
    const isOpen = (emails.length === 0 || settings.withPeople) && (groupId === undefined || settings.withGroups)
    if (!settings.isOn || !isOpen) throw refusals.sharingOff()
    const addresses = new Set(emails.map((each) => parseNewEmail(each)))
    if (addresses.has(owner.email)) throw refusals.badRequest(message('sharing.ownAddress'))
    if (addresses.size === 0 && groupId === undefined) throw refusals.badRequest(message('sharing.withNoOne'))
    return [...[...addresses].map((email) => ({ email })), ...(groupId === undefined ? [] : [{ groupId }])]
  }

  #checkEnd(until: Date, now: Date): void {
    const { maxDuration } = this.#parts.settings
    const left = until.getTime() - now.getTime()
    // A minute for clocks that differ.
    if (left > 0 && left <= maxDuration * 1_000 + 60_000) return
    throw refusals.badRequest(message('sharing.badEnd', { hours: Math.floor(maxDuration / 3_600) }))
  }
}

/** Whether the container is shared with them on these terms. */
function isAsWanted(share: ContainerShare, to: ShareTerms['to'], { may, until, port }: ShareRequest): boolean {
  const isWithThem = 'email' in to ? share.email === to.email : share.group?.id === to.groupId
  return (
    isWithThem &&
    share.port === port &&
    share.askedIn === null &&
    share.may === may &&
    share.expiresAt.getTime() === until.getTime()
  )
}

/** @throws {Refusal} 404 no such group of theirs · 409 it has ended */
async function requireMembership(tx: Tx, groupId: number, userId: number, now: Date): Promise<void> {
  const group = await findGroup(tx, groupId)
  if (!group || !(await findMembership(tx, groupId, userId))) throw refusals.groupNotFound('group')
  if (isExpired(group, now)) throw refusals.conflict(message('groups.groupOver'))
}

/** A page of shares by id; `next` is the id after which the next page begins, null after the last page. */
export interface SharePage {
  readonly shares: readonly ContainerShare[]
  readonly next: number | null
}

/** The shares of all users, for administrators: seen, and ended. */
export class ShareAdministration {
  readonly #parts: Pick<SharesParts, 'database' | 'publish' | 'onEnd'>

  constructor(parts: Pick<SharesParts, 'database' | 'publish' | 'onEnd'>) {
    this.#parts = parts
  }

  /** @param owner id or e-mail address; undefined for all owners, an unknown one has none */
  async list(owner: string | undefined, page: { limit: number; after: number }, now: Date): Promise<SharePage> {
    const { db } = this.#parts.database
    const userId = owner === undefined ? undefined : await ownerId(db, owner)
    const found = await listShares(db, { ...page, limit: page.limit + 1 }, now, userId)
    const { rows, next } = pageOf(found, page.limit, ({ id }) => id)
    return { shares: rows, next }
  }

  /**
   * Ends a share of any user; what is open by it is cut when this resolves. @throws {Refusal} 403 as `administer` · 404
   */
  async end(actor: Actor, id: number, now: Date): Promise<void> {
    const { database, publish, onEnd } = this.#parts
    const ended = await administer(database, actor, async (tx) => {
      const share = await findShare(tx, id)
      if (!share) throw refusals.notFound('share')
      await deleteShare(tx, id)
      await insertAuditEntries(tx, [shareEntry('container.unshare', actor, termsOf(share), now)])
      return share
    })
    await publish(now)
    onEnd({ userId: ended.owner.id, type: ended.type })
  }
}

/** What the settings allow of sharing. */
export interface SharingSettings {
  /** With people, by their e-mail addresses. */
  readonly withPeople: boolean
  /** With groups that the owner is a member of. */
  readonly withGroups: boolean
  /** Whether containers may be shared at all. */
  readonly isOn: boolean
  /** How long a share may last, in seconds. */
  readonly maxDuration: number
}

/** Whether a share that is there opens its container: a look is one of both ways, and of a type of its group. */
export function isAllowed(
  { askedIn, group, type }: Pick<ContainerShare, 'askedIn' | 'group' | 'type'>,
  settings: SharingSettings,
): boolean {
  if (askedIn !== null) return settings.isOn && covers(askedIn, type)
  return group === null ? settings.withPeople : settings.withGroups
}

/** Whether an owner may share containers of this type. */
export const isShareable = ({ access, forwardToken }: Template): boolean =>
  access === 'owner' && forwardToken !== 'full'

/** @throws {Refusal} 409 for a type that others may open anyway, or whose app has its owner's own token */
export function refuseUnshareable({ access, forwardToken }: Template): void {
  if (access !== 'owner') throw refusals.conflict(message('sharing.openAnyway'))
  if (forwardToken === 'full') throw refusals.conflict(message('sharing.fullToken'))
}

/**
 * Further ports are for their owner alone, also where others may open the main one.
 * @throws {Refusal} 400 for a port without an address · 409 for a type whose app has its owner's own token
 */
function refuseUnshareablePort(template: Template, port: number): void {
  const { forwardToken } = template
  if (!isAllowedPort(furtherPortsOf(template), port)) throw refusals.badRequest(message('sharing.closedPort', { port }))
  if (forwardToken === 'full') throw refusals.conflict(message('sharing.fullToken'))
}

/** What a share says, for the audit log. */
interface ShareTerms {
  /** Id of the container's record. */
  readonly recordId: number
  readonly type: string
  /** `askedInId`: the group whose manager, with this address, asked for it. */
  readonly to: { readonly email: string; readonly askedInId?: number } | { readonly groupId: number }
  readonly may: ShareRight
  /** Undefined and null: the main one. */
  readonly port?: number | null
  readonly until: Date
}

/**
 * The audit entry of a share that was made or ended; the visitor's address is a personal fact, which goes after a
 * while.
 */
export function shareEntry(
  action: 'container.share' | 'container.unshare',
  actor: AuditEntry['actor'],
  { recordId, type, to, may, port, until }: ShareTerms,
  at: Date,
): AuditEntry {
  const whom = 'email' in to ? { personal: { with: to.email } } : undefined
  const askedIn = 'email' in to && to.askedInId !== undefined ? { asked_in: `group:${to.askedInId}` } : {}
  const detail = {
    type,
    may,
    until,
    ...(port && { port }),
    ...askedIn,
    ...('groupId' in to && { with: `group:${to.groupId}` }),
  }
  return { at, actor, action, target: `container:${recordId}`, detail, ...whom }
}

const termsOf = ({ recordId, type, email, group, askedIn, may, port, expiresAt }: ContainerShare): ShareTerms => ({
  recordId,
  type,
  to: email === null ? { groupId: group?.id ?? 0 } : { email, ...(askedIn && { askedInId: askedIn.id }) },
  may,
  port,
  until: expiresAt,
})
