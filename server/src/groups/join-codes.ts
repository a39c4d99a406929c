import { createHash, randomInt } from 'node:crypto'
import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { RecentCounts } from '#/machine/recent-counts.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findMembership, setMember } from '#/store/group-members.ts'
import {
  findGroup,
  findGroupByJoinCode,
  findJoinCode,
  localSource,
  setJoinCode,
  type CountedGroup,
} from '#/store/groups.ts'
import { isExpired } from '#/templates/group-directory.ts'
import { refuseProviderGroup, requireManaged } from './managed-group.ts'

/** Lifetime of a code, in ms. */
const codeLifetime = 7 * 24 * 3_600_000
/** Without letters and digits that look alike on a projector: 31 of them, so ten have 49 bits. */
const codeAlphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const codeLength = 10
/** Codes that are remembered; the oldest go. */
const maxMade = 1_000

/** A code; only its hash is stored. */
export interface JoinCode {
  readonly code: string
  readonly expiresAt: Date
}

/** Max wrong codes of a user within a minute. */
const maxPerMinute = 10

/** Who joins, for the audit log. */
interface Joining {
  readonly id: number
  readonly email: string
  /** Address that the request came from. */
  readonly address: string
}

/** Join codes: a code that managers show to a class makes its users members, never managers. */
export class JoinCodes {
  readonly #database: Database
  /** Wrong codes by user (against brute force): codes cannot be guessed, whatever their length. */
  readonly #wrong = new RecentCounts<number>({ window: 60_000, max: maxPerMinute })
  readonly #onJoin: () => void
  /** Codes made by this process, by their group, so that they can be shown again. */
  readonly #made = new Map<number, string>()

  /** @param onJoin called after each new membership */
  constructor(database: Database, onJoin: () => void) {
    this.#database = database
    this.#onJoin = onJoin
  }

  /** Replaces the code before. @throws {Refusal} 404 · 403 · 409 a provider's group */
  async create(actor: Actor, groupId: number, now: Date): Promise<JoinCode> {
    const letters = Array.from({ length: codeLength }, () => codeAlphabet[randomInt(codeAlphabet.length)]).join('')
    const expiresAt = new Date(now.getTime() + codeLifetime)
    await this.#database.transaction(async (tx) => {
      refuseProviderGroup(await requireManaged(tx, actor, groupId))
      await setJoinCode(tx, groupId, { hash: hashOf(letters), expiresAt })
      const detail = { expires_at: expiresAt }
      const target = `group:${groupId}`
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.create-join-code', target, detail }])
    })
    this.#made.delete(groupId)
    this.#made.set(groupId, letters)
    for (const oldest of this.#made.keys()) if (this.#made.size > maxMade) this.#made.delete(oldest)
    return { code: asShown(letters), expiresAt }
  }

  /**
   * The code that lets users in now, as another manager or node may have made it.
   * @returns without the code itself where this process has not made it @throws {Refusal} 404 · 403
   */
  async active(actor: Actor, groupId: number, now: Date) {
    const { db } = this.#database
    await requireManaged(db, actor, groupId)
    const found = await findJoinCode(db, groupId, now)
    const letters = this.#made.get(groupId)
    const isIt = found !== undefined && letters !== undefined && hashOf(letters) === found.hash
    return { code: isIt ? asShown(letters) : null, expiresAt: found?.expiresAt ?? null }
  }

  /** @throws {Refusal} 404 · 403 */
  async remove(actor: Actor, groupId: number, now: Date): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await requireManaged(tx, actor, groupId)
      await setJoinCode(tx, groupId, null)
      const target = `group:${groupId}`
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.delete-join-code', target }])
    })
  }

  /**
   * Makes a user a member; a member stays what they are. @param typed case, hyphens and spaces do not matter
   * @throws {Refusal} 404 no such code · 409 the group has expired · 429 after ten wrong codes within a minute
   */
  async join(user: Joining, typed: string, now: Date): Promise<CountedGroup> {
    // Counted as wrong before it is looked up, so that many requests at once are no way around the limit.
    const counted = this.#wrong.add(user.id)
    if (counted.wait > 0) throw refusals.tooManyJoinCodes(maxPerMinute, Math.ceil(counted.wait / 1_000))
    const hash = hashOf(typed.toUpperCase().replace(/[^A-Z0-9]/g, ''))
    const group = await this.#database.transaction(async (tx) => {
      const found = await findGroupByJoinCode(tx, hash, now)
      if (!found) return undefined
      counted.undo()
      if (isExpired(found, now)) throw refusals.conflict(message('groups.groupOver'))
      const membership = { groupId: found.id, userId: user.id, role: 'member', source: localSource } as const
      if (await findMembership(tx, found.id, user.id)) return found
      await setMember(tx, { ...membership, now })
      const [target, detail] = [`group:${found.id}`, { user: user.id, role: 'member' }]
      const joined = await findGroup(tx, found.id)
      await insertAuditEntries(tx, [{ at: now, actor: user, action: 'group.join', target, detail }])
      return joined
    })
    if (!group) throw refusals.groupNotFound('joinCode')
    this.#onJoin()
    return group
  }
}

const asShown = (letters: string) => `${letters.slice(0, codeLength / 2)}-${letters.slice(codeLength / 2)}`

const hashOf = (code: string) => createHash('sha256').update(code).digest('hex')
