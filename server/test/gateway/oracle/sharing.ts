import type { GatewayChange, ShareGrant } from '@berth/gateway/port/gateway.ts'
import type { Random } from '../fuzz/random.ts'
import type { History } from './history.ts'

/** What a visitor asks for. */
export interface Visit {
  readonly prefix: string
  /** A further one; undefined: the main one. */
  readonly port: number | undefined
  readonly email: string
  readonly isRead: boolean
  /** Moments of the history. */
  readonly from: number
  readonly to: number
  /** ms since 1970 */
  readonly askedAt: number
  /** By how much the gateway may notice the date of an end too late, in ms. */
  readonly late: number
}

const groupCount = 5
const hour = 3_600_000

/** Shares of the world's containers, and groups with which they are shared; both change all the time. */
export class Sharing {
  /** Port of containers that is shared beside the main one. */
  furtherPort = 0
  /** One at which a program listens on loopback alone, shared likewise. */
  insidePort = 0
  readonly #history: History
  readonly #random: Random
  readonly #emails: readonly string[]
  readonly #grants = new Map<string, readonly ShareGrant[]>()
  readonly #members = new Map<number, readonly string[]>()

  constructor(history: History, random: Random, emails: readonly string[]) {
    this.#history = history
    this.#random = random
    this.#emails = emails
  }

  /** Changes the shares of one container, or the members of a group. @param tell resolves when the gateway knows */
  async change(prefix: string, tell: (change: GatewayChange) => Promise<void>): Promise<void> {
    if (this.#random.happens(0.2)) return this.#changeGroup(1 + this.#random.below(groupCount), tell)
    const grants = Array.from({ length: this.#random.below(4) }, () => this.#anyGrant())
    const portGrants = Array.from({ length: this.#random.below(3) }, () => ({
      ...this.#anyGrant(),
      port: this.#random.oneOf([this.furtherPort, this.insidePort]),
    }))
    this.#grants.set(prefix, [...grants, ...portGrants])
    await this.#record(sharesOf(prefix), [...grants, ...portGrants], () =>
      tell({ kind: 'shares', shares: { prefix, grants, portGrants } }),
    )
  }

  async #changeGroup(groupId: number, tell: (change: GatewayChange) => Promise<void>): Promise<void> {
    const emails = this.#emails.filter(() => this.#random.happens(0.2))
    this.#members.set(groupId, emails)
    await this.#record(membersOf(groupId), emails, () => tell({ kind: 'share-group', group: { groupId, emails } }))
  }

  async #record(name: string, value: unknown, tell: () => Promise<void>): Promise<void> {
    this.#history.begin(name, JSON.stringify(value))
    await tell()
    this.#history.settle(name)
  }

  #anyGrant(): ShareGrant {
    const to = this.#random.happens(0.3) ? 1 + this.#random.below(groupCount) : this.#random.oneOf(this.#emails)
    const lasts = this.#random.happens(0.3) ? 50 + this.#random.below(500) : hour
    return { to, may: this.#random.happens(0.5) ? 'look' : 'use', until: Date.now() + lasts }
  }

  /** Containers that are shared with a person now, by the last change. */
  with(email: string): readonly string[] {
    const includes = ({ to }: ShareGrant) =>
      typeof to === 'string' ? to === email : this.#members.get(to)?.includes(email)
    return [...this.#grants].filter(([, grants]) => grants.some(includes)).map(([prefix]) => prefix)
  }

  /** Whether some share allowed the visit at any moment between asking and the answer. */
  mayPass(visit: Visit): boolean {
    const { prefix, port, isRead, from, to, askedAt, late } = visit
    return this.#history
      .labelsBetween(sharesOf(prefix), from, to)
      .flatMap((label) => JSON.parse(label) as (ShareGrant & { readonly port?: number })[])
      .some(
        (grant) =>
          grant.port === port &&
          (grant.may === 'use' || isRead) &&
          grant.until + late >= askedAt &&
          this.#wasMeant(grant.to, visit),
      )
  }

  #wasMeant(who: ShareGrant['to'], { email, from, to }: Visit): boolean {
    if (typeof who === 'string') return who === email
    const members = this.#history.labelsBetween(membersOf(who), from, to)
    return members.some((label) => (JSON.parse(label) as string[]).includes(email))
  }
}

const sharesOf = (prefix: string) => `shares of ${prefix}`
const membersOf = (groupId: number) => `members of ${groupId}`
