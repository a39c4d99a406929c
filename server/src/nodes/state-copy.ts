import { revocationRetention } from '#/accounts/sessions/revocations.ts'
import type {
  ContainerShares,
  GatewayChange,
  GatewayState,
  GatewayUser,
  Revocation,
  RouteEntry,
  ShareGroup,
} from '@berth/gateway/port/gateway.ts'

/** What all gateways were sent so far: for one that joins later. It refers to the same objects as the changes. */
export class StateCopy {
  readonly #users = new Map<number, GatewayUser>()
  readonly #routes = new Map<string, RouteEntry>()
  readonly #shares = new Map<string, ContainerShares>()
  readonly #shareGroups = new Map<number, ShareGroup>()
  #revoked: Revocation[] = []

  replace({ users, routes, revoked, shares = [], shareGroups = [] }: GatewayState): void {
    for (const map of [this.#users, this.#routes, this.#shares, this.#shareGroups]) map.clear()
    for (const user of users) this.#users.set(user.userId, user)
    for (const route of routes) this.#routes.set(route.prefix, route)
    for (const each of shares) this.#setShares(each)
    for (const each of shareGroups) this.#setShareGroup(each)
    this.#revoked = [...revoked]
  }

  apply(changes: readonly GatewayChange[]): void {
    for (const change of changes) this.#apply(change)
  }

  route(prefix: string): RouteEntry | undefined {
    return this.#routes.get(prefix)
  }

  /** @param now ms since 1970: revocations of tokens that have expired are left out */
  all(now: number): GatewayState {
    this.#revoked = this.#revoked.filter(({ expiresAt }) => expiresAt > now - revocationRetention)
    return {
      users: [...this.#users.values()],
      routes: [...this.#routes.values()],
      revoked: this.#revoked,
      shares: [...this.#shares.values()],
      shareGroups: [...this.#shareGroups.values()],
    }
  }

  #apply(change: GatewayChange): void {
    switch (change.kind) {
      case 'user':
        this.#users.set(change.user.userId, change.user)
        break
      case 'user-gone':
        this.#users.delete(change.userId)
        break
      case 'route':
        this.#routes.set(change.route.prefix, change.route)
        break
      case 'route-gone':
        this.#routes.delete(change.prefix)
        break
      case 'revoked':
        this.#revoked.push(change.revocation)
        break
      case 'shares':
        this.#setShares(change.shares)
        break
      case 'share-group':
        this.#setShareGroup(change.group)
        break
    }
  }

  #setShares(shares: ContainerShares): void {
    if (shares.grants.length === 0) this.#shares.delete(shares.prefix)
    else this.#shares.set(shares.prefix, shares)
  }

  #setShareGroup(group: ShareGroup): void {
    if (group.emails.length === 0) this.#shareGroups.delete(group.groupId)
    else this.#shareGroups.set(group.groupId, group)
  }
}
