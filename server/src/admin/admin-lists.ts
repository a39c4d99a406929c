import type { ContainerStatus } from '@berth/api/schemas/administration/admin.ts'
import type { Actor } from '#/accounts/actor.ts'
import { endStreamsOf } from '#/accounts/api-tokens.ts'
import { administer, ownerId, requireUser } from '#/accounts/administrator-changes.ts'
import type { StreamRegistry } from '#/containers/stream-registry.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import {
  apiTokenEntry,
  deleteApiToken,
  listApiTokens,
  listApiTokensOf,
  type StoredApiToken,
} from '#/store/api-tokens.ts'
import { insertAuditEntries, listAuditEntries, type AuditFilter, type StoredAuditEntry } from '#/store/audit-log.ts'
import {
  countContainers,
  listContainersOf,
  listContainersOfAll,
  listContainersWithOwners,
  type ContainerFilter,
  type ContainerOfOwner,
  type RecordSelection,
  type UserContainer,
} from '#/store/user-containers.ts'
import type { Database, Db } from '#/store/database.ts'
import { listGroupsOf } from '#/store/group-members.ts'
import { pageOf, type ListOrder, type PageCursor, type PageRequest } from '#/store/pagination.ts'
import { countUsers, listAddresses, listUsers, type User, type UserFilter } from '#/store/users.ts'
import { verifyAuditLog, type AuditVerdict, type AuditVerification } from '#/store/verify-audit-log.ts'

/** A page of a list, and the cursor of the next one; null after the last page. */
export interface Page<Row> {
  readonly rows: Row[]
  readonly next: PageCursor | null
}

/** Status of containers, as far as it is known. */
export interface Statuses {
  of(record: UserContainer): ContainerStatus
  /** Selects the records that have this status. */
  withStatus(status: ContainerStatus): RecordSelection
}

/** A user with all their records. */
export interface UserWithContainers {
  readonly user: User
  readonly containers: UserContainer[]
}

/** A record with its owner and the status of its container. */
export interface ContainerRow extends ContainerOfOwner {
  readonly status: ContainerStatus
}

/** What the store and the engine have of one user. */
export interface UserDetails {
  readonly user: User
  readonly containers: readonly ContainerRow[]
  readonly groups: Awaited<ReturnType<typeof listGroupsOf>>
}

/** Filter of the list of containers. */
export type AdminContainerFilter = Omit<ContainerFilter, 'selection'> & {
  readonly status?: ContainerStatus | undefined
}

/** Lists of all users and containers for administrators, with keyset pagination. */
export class AdminLists {
  readonly #db: Db
  readonly #statuses: Statuses

  constructor(db: Db, statuses: Statuses) {
    this.#db = db
    this.#statuses = statuses
  }

  countUsers(filter: UserFilter): Promise<number> {
    return countUsers(this.#db, filter)
  }

  /** A page of users, each with all their records; two or three queries for any number of users. */
  async listUsers(page: PageRequest, filter: UserFilter): Promise<Page<UserWithContainers>> {
    const { rows, next } = toPage(
      await listUsers(this.#db, oneMore(page), filter),
      page,
      ({ id, email, lastUsed, createdAt }) => ({ id, email, lastUsed, createdAt }),
    )
    const ids = rows.map(({ id }) => id)
    const byOwner = Map.groupBy(await listContainersOfAll(this.#db, ids), ({ userId }) => userId)
    return { rows: rows.map((user) => ({ user, containers: byOwner.get(user.id) ?? [] })), next }
  }

  countContainers({ status, ...filter }: AdminContainerFilter): Promise<number> {
    return countContainers(this.#db, { ...filter, selection: this.#selectionOf(status) })
  }

  /**
   * A page of all containers. Records change status while the store is read: a page that is filtered by status may have
   * fewer rows than its limit although there is a next page.
   */
  async listContainers(page: PageRequest, { status, ...filter }: AdminContainerFilter): Promise<Page<ContainerRow>> {
    const { rows, next } = toPage(
      await listContainersWithOwners(this.#db, oneMore(page), { ...filter, selection: this.#selectionOf(status) }),
      page,
      ({ email, record: { id, lastUsed, createdAt } }) => ({ id, email, lastUsed, createdAt }),
    )
    const withStatus = rows.map((row) => ({ ...row, status: this.#statuses.of(row.record) }))
    return { rows: status ? withStatus.filter((row) => row.status === status) : withStatus, next }
  }

  /** One user with the statuses of the containers, and with the groups by name. @throws {Refusal} 404 */
  async userDetails(id: number): Promise<UserDetails> {
    const { user, containers } = await withContainers(this.#db, id)
    const { email, slug } = user
    const rows = containers.map((record) => ({ record, email, slug, status: this.#statuses.of(record) }))
    return { user, containers: rows, groups: await listGroupsOf(this.#db, id) }
  }

  #selectionOf(status: ContainerStatus | undefined): RecordSelection | undefined {
    return status && this.#statuses.withStatus(status)
  }
}

/** @throws {Refusal} 404 */
export async function withContainers(db: Db, id: number): Promise<UserWithContainers> {
  return { user: await requireUser(db, id), containers: await listContainersOf(db, id) }
}

/** One row more than the limit shows whether there is a next page. */
const oneMore = (page: PageRequest): PageRequest => ({ ...page, limit: page.limit + 1 })

interface Keys {
  readonly id: number
  readonly email: string
  readonly lastUsed: Date | null
  readonly createdAt: Date
}

function toPage<Row>(found: readonly Row[], { order, limit }: PageRequest, keysOf: (row: Row) => Keys): Page<Row> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: last && found.length > limit ? endOf(keysOf(last), order) : null }
}

function endOf({ id, email, lastUsed, createdAt }: Keys, { by }: ListOrder): PageCursor {
  const values = { id: null, email, last_used: lastUsed?.getTime() ?? null, created_at: createdAt.getTime() }
  return { value: values[by], id }
}

/** Timeout of one verification, in seconds. */
const verifyTimeout = 20

/** A page of the audit log, newest first. */
export interface AuditPage {
  readonly entries: StoredAuditEntry[]
  /** Id before which the next page begins; null after the last page. */
  readonly next: number | null
}

/** Audit log for administrators: pages, e-mail addresses of the users in them, and verification of the hash chain. */
export class AuditReader {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** @param before id of the last entry of the page before */
  async list(filter: AuditFilter, limit: number, before?: number): Promise<AuditPage> {
    // One entry more than the limit shows whether there is a next page.
    const page = { limit: limit + 1, ...(before === undefined ? {} : { before }) }
    const found = await listAuditEntries(this.#db, page, filter)
    const entries = found.entries.slice(0, limit)
    const isMore = found.isCut || found.entries.length > limit
    return { entries, next: isMore ? (entries.at(-1)?.id ?? null) : null }
  }

  /** E-mail addresses, by id, of the users whom these entries are about and who still exist. */
  addressesIn(entries: readonly StoredAuditEntry[]): Promise<Record<string, string>> {
    return listAddresses(this.#db, entries.flatMap(usersIn))
  }

  /** @param cancelled aborted when the client is gone @throws {Refusal} 503 after 20 s, or when cancelled */
  async verify(expected: Pick<AuditVerification, 'kept'>, cancelled: AbortSignal): Promise<AuditVerdict> {
    const signal = AbortSignal.any([AbortSignal.timeout(verifyTimeout * 1_000), cancelled])
    try {
      return await verifyAuditLog(this.#db, { ...expected, signal })
    } catch (error) {
      throw signal.aborted ? refusals.auditTooLong(verifyTimeout) : error
    }
  }
}

/** Id of the user whom an entry is about: the user, or the owner of the container. */
function usersIn({ target, detail }: StoredAuditEntry): number[] {
  const id = /^user:(\d{1,15})$/.exec(target)?.[1] ?? detail.user
  return Number.isSafeInteger(Number(id)) ? [Number(id)] : []
}

/** A page of API tokens, newest first, each with the address of its owner. */
export interface ApiTokenPage {
  readonly tokens: (StoredApiToken & { readonly email: string })[]
  /** Id before which the next page begins; null after the last page. */
  readonly next: number | null
}

/** The API tokens of all users, for administrators: seen without the tokens themselves, and removed. */
export class ApiTokenAdministration {
  readonly #database: Database
  readonly #streams: Pick<StreamRegistry, 'endSession'>

  constructor(database: Database, streams: Pick<StreamRegistry, 'endSession'>) {
    this.#database = database
    this.#streams = streams
  }

  /**
   * @param owner id or e-mail address; undefined for all owners, an unknown one has none
   * @param before id of the last row of the page before
   */
  async list(owner: string | undefined, limit: number, before?: number): Promise<ApiTokenPage> {
    const { db } = this.#database
    const userId = owner === undefined ? undefined : await ownerId(db, owner)
    const found = await listApiTokens(db, { limit: limit + 1, before }, userId)
    const { rows, next } = pageOf(found, limit, ({ id }) => id)
    return { tokens: rows, next }
  }

  /** Removes a token of any user; it counts no more when this resolves. @throws {Refusal} 403 as `administer` · 404 */
  async revoke(actor: Actor, id: number, now: Date): Promise<void> {
    const removed = await administer(this.#database, actor, async (tx) => {
      const token = await deleteApiToken(tx, id)
      if (!token) throw refusals.notFound('token')
      await insertAuditEntries(tx, [apiTokenEntry('token.remove', actor, token, now)])
      return token
    })
    endStreamsOf(this.#streams, removed)
  }

  /**
   * Removes all tokens of a user; one that is removed meanwhile is what was wanted.
   * @throws {Refusal} 403 as `administer`
   */
  async revokeAllOf(actor: Actor, userId: number, now: Date): Promise<void> {
    for (const { id } of await listApiTokensOf(this.#database.db, userId))
      await this.revoke(actor, id, now).catch((error: unknown) => {
        if (!(error instanceof Refusal && error.status === 404)) throw error
      })
  }
}
