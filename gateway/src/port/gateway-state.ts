import type { Language } from '@berth/api/boot.ts'

/** Everything a gateway knows. */
export interface GatewayState {
  readonly users: readonly GatewayUser[]
  readonly routes: readonly RouteEntry[]
  readonly revoked: readonly Revocation[]
  /** Left out: no container is shared. */
  readonly shares?: readonly ContainerShares[]
  readonly shareGroups?: readonly ShareGroup[]
}

export type GatewayChange =
  | { readonly kind: 'user'; readonly user: GatewayUser }
  | { readonly kind: 'user-gone'; readonly userId: number }
  | { readonly kind: 'route'; readonly route: RouteEntry }
  | { readonly kind: 'route-gone'; readonly prefix: string }
  | { readonly kind: 'revoked'; readonly revocation: Revocation }
  | { readonly kind: 'shares'; readonly shares: ContainerShares }
  | { readonly kind: 'share-group'; readonly group: ShareGroup }

/** A user who may own containers and tokens. */
export interface GatewayUser {
  readonly userId: number
  readonly slug: string
  readonly email: string
  readonly isBlocked: boolean
  /** As their scoped tokens say: a change ends the use of those that were issued before. */
  readonly isAdmin: boolean
  /** Tokens issued before then belong to another user: after an older store is restored, ids are assigned again. */
  readonly createdAt: number
}

/** Routing table entry: a container, its owner, and its upstream address. A type without an entry was never launched. */
export interface RouteEntry {
  /** First path segment, `{slug}-{type}`, without slashes. */
  readonly prefix: string
  readonly ownerId: number
  /** As in `GatewaySettings.types`. */
  readonly type: string
  readonly isBlocked: boolean
  readonly where: UpstreamAddress | Unavailable
}

/** All that is granted to visitors of one container; it replaces what was granted before. */
export interface ContainerShares {
  readonly prefix: string
  readonly grants: readonly ShareGrant[]
}

/** What one visitor, or the members of a group, may do in a container that its owner shares with them. */
export interface ShareGrant {
  /** Address of a visitor's account, or id of a `ShareGroup`. */
  readonly to: string | number
  /** `look`: read requests alone; `use`: every request, WebSockets included. */
  readonly may: 'look' | 'use'
  /** ms since 1970 */
  readonly until: number
}

/** Members of a group with which containers are shared, by the addresses of their accounts. */
export interface ShareGroup {
  readonly groupId: number
  readonly emails: readonly string[]
}

/** A visitor to whom a container is shared had something open there, or sent a request. */
export interface Visit {
  readonly prefix: string
  readonly userId: number
  /** ms since 1970 */
  readonly at: number
}

/** Where a container that runs, or is paused, listens. No two entries have the same address at the same time. */
export interface UpstreamAddress {
  readonly containerId: string
  readonly host: string
  readonly port: number
  /** Its memory is kept but it gets no CPU: a request wakes it first. */
  readonly isPaused: boolean
}

/** Why a container cannot be reached. */
export interface Unavailable {
  readonly reason:
    | 'asleep' // stopped, by idleness or from outside; wakes when its owner asks for it
    | 'evicted' // ended by its cluster; wakes as one that is asleep
    | 'node-lost' // the node that it ran on does not answer; wakes once that is settled
    | 'missing' // never launched, or removed
    | 'crashed' // ended by itself with an error
    | 'out-of-memory'
    | 'no-image'
    | 'failed' // the engine could not start it
    | 'unknown' // the engine does not answer
  readonly exitCode: number | null
  /** Why a wake was refused, such as a limit: the sentence of the refusal, for its owner. Never part of a route. */
  readonly refusal?: Readonly<Record<Language, string>>
}

const sharedUnavailable = new Map<string, Unavailable>()

/** The same object each time, for exit codes of one byte: most of 100,000 routes have one of a few reasons. */
export function unavailable(reason: Unavailable['reason'], exitCode: number | null = null): Unavailable {
  if (exitCode !== null && (exitCode < 0 || exitCode > 255)) return { reason, exitCode }
  const key = `${reason} ${exitCode}`
  const known = sharedUnavailable.get(key) ?? Object.freeze({ reason, exitCode })
  sharedUnavailable.set(key, known)
  return known
}

/** Whether a request of its owner starts it. */
export const isWakeable = ({ reason }: Unavailable): boolean =>
  reason === 'asleep' || reason === 'evicted' || reason === 'node-lost'

export interface Explanation {
  readonly unavailable: Unavailable | undefined
  /** What the app wrote last, oldest first; at most 20 lines. For the owner's eyes only. */
  readonly lastLines: readonly string[]
  readonly displayName: string
}

export interface Revocation {
  /** Of a token, of a session, or of one that a block ended (`endedSession`); or what the ids of many tokens begin with, up to a dot: all of these are revoked. */
  readonly jti: string
  readonly expiresAt: number
}

/** A session that a request, or data on a WebSocket, used. */
export interface SessionUse {
  /** As in the claim of its tokens. */
  readonly sid: string
  /** ms since 1970 */
  readonly at: number
}

export interface RouteActivity {
  readonly prefix: string
  /** When the last byte moved. */
  readonly at: number
}
