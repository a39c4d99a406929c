import { clock } from '#/basics/clock.ts'
import type { ContainerShares, PortGrant, ShareGrant, ShareGroup, Visit } from '#/port/gateway.ts'
import type { ActiveRequest } from '#/upstream/upstream.ts'
import type { Route } from '#/upstream/route.ts'
import type { Caller, UserCache } from '#/tokens/token-verifier.ts'

/** Between two reports of one visit, in ms. */
const visitInterval = 5_000

/**
 * Shares of containers: who may visit which, besides its owner (decision 061). In memory, so that no request asks the store,
 * and empty while no container is shared.
 */
export class ShareTable {
  readonly #users: UserCache
  readonly #grants = new Map<string, readonly (ShareGrant & Partial<Pick<PortGrant, 'port'>>)[]>()
  readonly #groups = new Map<number, ReadonlySet<string>>()
  /** When a visit was reported last, by `clock.now`; the key is prefix and user. */
  readonly #reportedAt = new Map<string, number>()
  #visits: Visit[] = []

  constructor(users: UserCache) {
    this.#users = users
  }

  get isEmpty(): boolean {
    return this.#grants.size === 0
  }

  /** Replaces the grants of one container. */
  set({ prefix, grants, portGrants = [] }: ContainerShares): void {
    const all = [...grants, ...portGrants]
    if (all.length === 0) this.#grants.delete(prefix)
    else this.#grants.set(prefix, all)
  }

  /** Replaces the members of a group; one without members is forgotten. */
  setGroup({ groupId, emails }: ShareGroup): void {
    if (emails.length === 0) this.#groups.delete(groupId)
    else this.#groups.set(groupId, new Set(emails))
  }

  /** Makes exactly these shares known. */
  replace(shares: readonly ContainerShares[] = [], groups: readonly ShareGroup[] = []): void {
    this.#grants.clear()
    this.#groups.clear()
    for (const each of shares) this.set(each)
    for (const each of groups) this.setGroup(each)
  }

  /**
   * What a caller may do in a container of another user. An administrator in a takeover may do nothing there: what is
   * shared is shared with the user alone. A grant opens one port: the main one, or the one that it names.
   * @param port undefined for the main one
   * @returns undefined when it is not shared with them, or not any more; of several grants the one that allows more
   */
  rightOf(prefix: string, { userId, acting }: Caller, port: number | undefined): ShareGrant['may'] | undefined {
    const grants = this.#grants.get(prefix)
    const email = this.#users.get(userId)?.email
    if (grants === undefined || email === undefined || acting !== null) return undefined
    const own = grants.filter((each) => each.port === port && each.until > clock.wall && this.#includes(each.to, email))
    return own.find(({ may }) => may === 'use')?.may ?? own[0]?.may
  }

  #includes(to: ShareGrant['to'], email: string): boolean {
    return typeof to === 'string' ? to === email : this.#groups.get(to)?.has(email) === true
  }

  /** Cuts what visitors have open on this route although it is not shared with them in this way any more. */
  cutForbidden(route: Route): void {
    const { rules, activeRequests } = route
    if (rules.access !== 'owner') return
    for (const request of activeRequests) {
      const { caller } = request
      if (caller && caller.userId !== route.entry.ownerId && !this.#covers(route, caller, request)) request.cut()
    }
  }

  #covers({ entry, port }: Route, caller: Caller, { isRead }: ActiveRequest): boolean {
    const right = this.rightOf(entry.prefix, caller, port)
    return right === 'use' || (right === 'look' && isRead)
  }

  /** Notes a request of a visitor. */
  noteVisit(prefix: string, userId: number): void {
    const key = `${prefix} ${userId}`
    if (clock.now - (this.#reportedAt.get(key) ?? -visitInterval) < visitInterval) return
    this.#reportedAt.set(key, clock.now)
    this.#visits.push({ prefix, userId, at: clock.wall })
  }

  /** Notes the visitors who have something open on this route. */
  noteOpen({ entry, activeRequests }: Route): void {
    if (!this.#grants.has(entry.prefix)) return
    for (const { caller } of activeRequests)
      if (caller && caller.userId !== entry.ownerId) this.noteVisit(entry.prefix, caller.userId)
  }

  /** Visits since the last call. */
  takeVisits(): readonly Visit[] {
    const visits = this.#visits
    this.#visits = []
    return visits
  }

  /** Forgets visits that are over. */
  prune(): void {
    for (const [key, at] of this.#reportedAt) if (clock.now - at > visitInterval) this.#reportedAt.delete(key)
  }
}
