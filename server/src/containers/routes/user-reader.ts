import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import type { GatewayChange, GatewayUser } from '@berth/gateway/port/gateway.ts'
import type { Db } from '#/store/database.ts'
import {
  listContainersOf,
  listRoutableContainers,
  type ContainerRef,
  type RoutableContainer,
} from '#/store/user-containers.ts'
import { findUser, listReachableUsers, type User } from '#/store/users.ts'
import type { ContainerIndex } from './container-index.ts'
import type { Templates } from '#/templates/template.ts'
import type { RouteChanges } from './route-changes.ts'
import type { RoutePublisher } from './routing-snapshot.ts'

/** Users per query of the store; other work runs in between. */
const pageSize = 200

export interface UserReaderParts {
  readonly db: Db
  readonly templates: Templates
  readonly index: ContainerIndex
  readonly publisher: RoutePublisher
  readonly changes: RouteChanges
  /** Called when a user is blocked or deleted; must not throw. */
  readonly onAccessRevoked: (userId: number) => void
  /** Called when the record of a container was deleted; must not throw. */
  readonly onGone: (owned: ContainerRef) => void
}

/** Reads users and their records from the store into the index, and publishes what has changed. */
export class UserReader {
  readonly #parts: UserReaderParts
  readonly #mutex = new KeyedMutex()
  #lastRead: { readonly at: number; readonly took: number } | undefined

  constructor(parts: UserReaderParts) {
    this.#parts = parts
  }

  /** When all users were read last (`performance.now()`), and how long that took, in ms; undefined if it failed. */
  get lastRead(): { readonly at: number; readonly took: number } | undefined {
    return this.#lastRead
  }

  /** Reads and publishes one user with all records. @throws when the store or the gateway fails */
  async read(userId: number): Promise<void> {
    await this.#mutex.run(String(userId), async () => {
      const { db, index, publisher } = this.#parts
      const asOf = index.tick()
      const [user, records] = await Promise.all([findUser(db, userId), listContainersOf(db, userId)])
      await publisher.publish(this.#applyUser(userId, user, records, asOf))
    })
  }

  /** Reads and publishes all users page by page; each page at once, so that changes arrive in their order. @throws as `read` */
  async readAll(): Promise<void> {
    const began = performance.now()
    this.#lastRead = undefined
    const found = new Set<number>()
    for (let after = 0, isLast = false; !isLast;) {
      const asOf = this.#parts.index.tick()
      const users = await listReachableUsers(this.#parts.db, { limit: pageSize, after })
      const upTo = users.at(-1)?.id ?? after
      await this.#readPage(users, { after, upTo }, asOf)
      for (const { id } of users) found.add(id)
      isLast = users.length < pageSize
      after = upTo
      // SQLite answers synchronously: without this nothing else would run until the last page.
      await yieldToEvents()
    }
    // Deleted users, and users created after their page was read.
    for (const userId of this.#parts.index.ownerIds()) if (!found.has(userId)) await this.read(userId)
    const now = performance.now()
    this.#lastRead = { at: now, took: now - began }
  }

  /** @param owners range of the users' ids */
  async #readPage(users: readonly User[], owners: { after: number; upTo: number }, asOf: number): Promise<void> {
    const { db, index, publisher } = this.#parts
    const records = Map.groupBy(await listRoutableContainers(db, owners), ({ userId }) => userId)
    // For a user who was deleted meanwhile the index has no time to compare with this page; they are read again one by one.
    const isKnown = ({ id }: User) => !publisher.hasBegun || index.hasOwner(id)
    const changes = users
      .filter(isKnown)
      .flatMap((user) => this.#applyUser(user.id, user, records.get(user.id) ?? [], asOf))
    const unknownUsers = users.filter((user) => !isKnown(user))
    await publisher.publish(changes)
    for (const { id } of unknownUsers) await this.read(id)
  }

  #applyUser(
    userId: number,
    user: User | undefined,
    records: readonly RoutableContainer[],
    asOf: number,
  ): GatewayChange[] {
    const { index, templates, publisher, changes, onAccessRevoked } = this.#parts
    if (!index.updateOwner(userId, asOf)) return []
    if (!user || (user.state === 'registered' && records.length === 0)) return this.#removeUser(userId)
    if (user.isBlocked) onAccessRevoked(userId)
    // The store returns each type as a text of its own.
    const configured = records.flatMap((record) => {
      const template = templates.get(record.type)
      return template ? [{ ...record, type: template.type }] : []
    })
    const types = new Set(configured.map(({ type }) => type))
    const gone = index.typesOf(userId).filter((type) => !types.has(type))
    const entries = configured.map((record) => index.put(user, record))
    return [
      ...publisher.snapshot.putUser(toGatewayUser(user)),
      ...gone.flatMap((type) => this.#removeContainer({ userId, type })),
      // The start computes all routes once the engine has answered.
      ...(publisher.hasBegun ? entries.flatMap((entry) => changes.of(entry)) : []),
    ]
  }

  #removeUser(userId: number): GatewayChange[] {
    const { index, publisher, onAccessRevoked } = this.#parts
    onAccessRevoked(userId)
    const removals = index.typesOf(userId).flatMap((type) => this.#removeContainer({ userId, type }))
    index.removeOwner(userId)
    return [...removals, ...publisher.snapshot.removeUser(userId)]
  }

  #removeContainer(owned: ContainerRef): GatewayChange[] {
    const prefix = this.#parts.index.remove(owned)
    if (prefix === undefined) return []
    this.#parts.onGone(owned)
    // The next container with this path is another one: it is shared with none.
    return [...this.#parts.changes.remove(prefix), ...this.#parts.publisher.snapshot.putShares({ prefix, grants: [] })]
  }
}

const toGatewayUser = ({ id, slug, email, isBlocked, isAdmin, createdAt }: User): GatewayUser => ({
  userId: id,
  slug,
  email,
  isBlocked,
  isAdmin,
  createdAt: createdAt.getTime(),
})
