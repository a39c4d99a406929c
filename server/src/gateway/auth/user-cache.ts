import type { GatewayUser } from '../gateway-state.ts'

/** User cache: the users who may own containers and tokens, by id and by slug. */
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
    this.#byId = new Map(users.map((user) => [user.userId, user]))
    this.#bySlug = new Map(users.map((user) => [user.slug, user]))
  }
}
