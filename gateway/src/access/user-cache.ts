import type { GatewayUser } from '#/port/gateway-state.ts'

/**
 * User cache: the users who may own containers and tokens, by id and by slug. A user is the same object until a field
 * changes: whatever depends on a user's state compares objects.
 */
export class UserCache {
  #byId = new Map<number, GatewayUser>()
  #bySlug = new Map<string, GatewayUser>()

  get(userId: number): GatewayUser | undefined {
    return this.#byId.get(userId)
  }

  bySlug(slug: string): GatewayUser | undefined {
    return this.#bySlug.get(slug)
  }

  set(user: GatewayUser): void {
    if (this.#knownOrNew(user) !== user) return
    this.remove(user.userId)
    this.#byId.set(user.userId, user)
    this.#bySlug.set(user.slug, user)
  }

  remove(userId: number): void {
    const user = this.#byId.get(userId)
    if (!user) return
    this.#byId.delete(userId)
    this.#bySlug.delete(user.slug)
  }

  /** Makes exactly these users known. */
  replace(users: readonly GatewayUser[]): void {
    const next = users.map((user) => this.#knownOrNew(user))
    this.#byId = new Map(next.map((user) => [user.userId, user]))
    this.#bySlug = new Map(next.map((user) => [user.slug, user]))
  }

  /** A new control plane sends unchanged users as other objects. */
  #knownOrNew(user: GatewayUser): GatewayUser {
    const known = this.#byId.get(user.userId)
    return known && isSame(known, user) ? known : user
  }
}

/** All fields are primitive. */
function isSame(one: GatewayUser, other: GatewayUser): boolean {
  return (Object.keys(other) as (keyof GatewayUser)[]).every((field) => one[field] === other[field])
}
