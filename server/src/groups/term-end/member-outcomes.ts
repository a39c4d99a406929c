import type { GroupDirectory } from '#/templates/group-directory.ts'
import type { Templates } from '#/templates/template.ts'
import type { Home } from '#/engines/runtime-container.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { listContainersOfAll, type UserContainer } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import { listGroupIdsOfAll, listMembers, type GroupRole } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import type { User } from '#/store/users.ts'
import { decideOutcome, type MemberOutcome } from './member-outcome.ts'

/** A list of all homes counts for so long, in ms: a page after page, and member after member, asks for it. */
const homesAge = 5_000

export interface MemberOutcomesParts {
  readonly db: Db
  readonly runtime: Pick<Runtime, 'homes'>
  readonly directory: Pick<GroupDirectory, 'find'>
  readonly templates: Pick<Templates, 'get'>
}

/** A member with what an end of term does to them. */
export interface PlannedMember {
  readonly user: User
  readonly role: GroupRole
  /** Groups that the plan knows of. */
  readonly groupIds: readonly number[]
  readonly records: readonly UserContainer[]
  /** Types of which they have a home. */
  readonly homes: ReadonlySet<string>
  readonly outcome: MemberOutcome
}

/** Computes what an end of term does to members, from store and engine at this moment. */
export class MemberOutcomes {
  readonly #parts: MemberOutcomesParts
  #homes: { readonly at: number; readonly found: Promise<Map<string, string[]>> } | undefined

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
    const { db, directory, templates } = this.#parts
    const ids = members.map(({ user }) => user.id)
    const groupIds = await listGroupIdsOfAll(db, ids)
    const records = Map.groupBy(await listContainersOfAll(db, ids), ({ userId }) => userId)
    const homes = members.length === 0 ? new Map<string, string[]>() : await this.#homesByOwner()
    const context = { group, namedBy: (type: string) => templates.get(type)?.groups ?? [], removesAccounts, now }
    return members.map(({ user, role }) => {
      const own = records.get(user.id) ?? []
      const ownHomes = new Set(homes.get(keyOf(user.id, user.slug)))
      const types = [...new Set([...own.map(({ type }) => type), ...ownHomes])].toSorted()
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
  async #homesByOwner(): Promise<Map<string, string[]>> {
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

function byOwner(homes: readonly Home[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { owner } of homes) {
    const key = keyOf(owner.userId, owner.slug)
    found.set(key, [...(found.get(key) ?? []), owner.type])
  }
  return found
}
