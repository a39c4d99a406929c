import { homeVolume, sharedHome } from '#/containers/container-name.ts'
import type { HomeNames } from '#/containers/open-containers.ts'
import type { Home, Runtime } from '#/engines/runtime.ts'
import type { Db } from '#/store/database.ts'
import { listGroupIdsOfAll, listMembers, type GroupRole } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import type { StayReason } from '#/store/term-ends.ts'
import { listContainersOfAll, type UserContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import { covers, isExpired, type GroupDirectory } from '#/templates/group-directory.ts'
import { expiredGroup } from '#/templates/launch-rules.ts'
import type { Templates } from '#/templates/template.ts'

/** A list of all homes counts for so long, in ms: a page after page, and member after member, asks for it. */
const homesAge = 5_000

export interface MemberOutcomesParts {
  readonly db: Db
  readonly runtime: Pick<Runtime, 'homes'>
  readonly directory: Pick<GroupDirectory, 'find'>
  readonly templates: Pick<Templates, 'get'>
  readonly names: Pick<HomeNames, 'sharedTypes' | 'typesWith'>
  readonly installation: string
}

/** A member with what an end of term does to them. */
export interface PlannedMember {
  readonly user: User
  readonly role: GroupRole
  /** Groups that the plan knows of. */
  readonly groupIds: readonly number[]
  readonly records: readonly UserContainer[]
  /** Types of which they have a home, with `sharedHome` for the one that types share. */
  readonly homes: ReadonlySet<string>
  readonly outcome: MemberOutcome
}

/** Computes what an end of term does to members, from store and engine at this moment. */
export class MemberOutcomes {
  readonly #parts: MemberOutcomesParts
  #homes: { readonly at: number; readonly found: Promise<Map<string, Home[]>> } | undefined

  constructor(parts: MemberOutcomesParts) {
    this.#parts = parts
  }

  /** A page of the group's members by id. @throws {RuntimeError} the engine does not tell its homes */
  async page(
    group: Group,
    page: { readonly limit: number; readonly after: number },
    removesAccounts: boolean,
    now: Date,
  ): Promise<PlannedMember[]> {
    return this.of(group, await listMembers(this.#parts.db, group.id, page), removesAccounts, now)
  }

  /** These members; at most a page of them. @throws {RuntimeError} as `page` */
  async of(
    group: Group,
    members: readonly { readonly user: User; readonly role: GroupRole }[],
    removesAccounts: boolean,
    now: Date,
  ): Promise<PlannedMember[]> {
    const { db, directory, templates, names, installation } = this.#parts
    const ids = members.map(({ user }) => user.id)
    const groupIds = await listGroupIdsOfAll(db, ids)
    const records = Map.groupBy(await listContainersOfAll(db, ids), ({ userId }) => userId)
    const homes = members.length === 0 ? new Map<string, Home[]>() : await this.#homesByOwner()
    const shared = await names.sharedTypes(ids)
    const namedBy = (type: string) => templates.get(type)?.groups ?? []
    const context = { group, namedBy, sharing: names.typesWith(sharedHome), removesAccounts, now }
    return members.map(({ user, role }) => {
      const own = records.get(user.id) ?? []
      const of = shared.get(user.id)
      const sharedVolume = of === undefined ? undefined : homeVolume(installation, user.id, user.slug, of)
      const ownHomes = new Set(
        homes
          .get(keyOf(user.id, user.slug))
          ?.map(({ volume, owner }) => (volume === sharedVolume ? sharedHome : owner.type)),
      )
      // A record may have a home that the list, which is kept for a moment, does not have yet.
      const sharedOnes = own.some(({ type }) => context.sharing.includes(type)) ? [sharedHome] : []
      const types = [...new Set([...own.map(({ type }) => type), ...sharedOnes, ...ownHomes])].toSorted()
      const otherGroups = directory.find((groupIds.get(user.id) ?? []).filter((id) => id !== group.id))
      return {
        user,
        role,
        groupIds: [group, ...otherGroups].map(({ id }) => id),
        records: own,
        homes: ownHomes,
        outcome: decideOutcome({ user, role, otherGroups, types }, context),
      }
    })
  }

  /** The engine lists all homes at once, so a list is kept for a moment. */
  async #homesByOwner(): Promise<Map<string, Home[]>> {
    if (!this.#homes || performance.now() - this.#homes.at > homesAge) {
      const read = { at: performance.now(), found: this.#parts.runtime.homes().then(byOwner) }
      this.#homes = read
      read.found.catch(() => this.#homes === read && (this.#homes = undefined))
    }
    return this.#homes.found
  }
}

/** By slug as well: after an older store is restored, ids are assigned again. */
const keyOf = (userId: number, slug: string) => `${userId} ${slug}`

function byOwner(homes: readonly Home[]): Map<string, Home[]> {
  return Map.groupBy(homes, ({ owner }) => keyOf(owner.userId, owner.slug))
}

/** Why an end of term leaves a member as they are. */
export type UntouchedReason = 'administrator' | 'manager' | 'blocked'

/** What is known of a member. */
export interface MemberFacts {
  readonly user: Pick<User, 'id' | 'isAdmin' | 'isBlocked'>
  /** In the group that ends. */
  readonly role: GroupRole
  /** Other groups of theirs. */
  readonly otherGroups: readonly Group[]
  /** Types of which they have a container's record or a home, with `sharedHome` for the one that types share. */
  readonly types: readonly string[]
}

/** What an end of term does to a member. */
type MemberOutcome =
  | { readonly untouched: UntouchedReason }
  | {
      readonly untouched: null
      /** Types whose homes are archived and removed with their containers, with `sharedHome` for the one that types share. */
      readonly ends: readonly string[]
      /** Types that stay. */
      readonly keeps: readonly string[]
      /** Why the account stays; null: it is removed. */
      readonly stays: StayReason | null
    }

export interface OutcomeContext {
  readonly group: Group
  /** Groups that the template of a type names. */
  readonly namedBy: (type: string) => readonly string[]
  /** Types that share the home of their person. */
  readonly sharing: readonly string[]
  readonly removesAccounts: boolean
  readonly now: Date
}

/**
 * The rule of an end of term. A home ends when the end of the group takes its type from the member, as launches see it: a
 * type that another group of theirs names stays. One that types share ends with the last of them. An account ends when nothing of theirs is left.
 */
function decideOutcome({ user, role, otherGroups, types }: MemberFacts, context: OutcomeContext): MemberOutcome {
  if (user.isAdmin) return { untouched: 'administrator' }
  if (role === 'manager') return { untouched: 'manager' }
  if (user.isBlocked) return { untouched: 'blocked' }
  const { group, namedBy, sharing, removesAccounts, now } = context
  const ended = isExpired(group, now) ? group : { ...group, expiresAt: now }
  const isTypeTaken = (type: string) =>
    covers(group, type) && expiredGroup([ended, ...otherGroups], type, namedBy(type), now) !== undefined
  const used = sharing.filter((type) => types.includes(type))
  const isTaken = (type: string) =>
    type === sharedHome ? (used.length > 0 ? used : sharing).every(isTypeTaken) : isTypeTaken(type)
  const ends = types.filter(isTaken)
  const keeps = types.filter((type) => !ends.includes(type))
  return { untouched: null, ends, keeps, stays: reasonToStay(removesAccounts, otherGroups, keeps) }
}

function reasonToStay(
  removesAccounts: boolean,
  otherGroups: readonly Group[],
  keeps: readonly string[],
): StayReason | null {
  if (!removesAccounts) return 'option'
  if (otherGroups.length > 0) return 'group'
  return keeps.length > 0 ? 'container' : null
}
