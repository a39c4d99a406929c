import type { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import { KeyedLimit } from '#/machine/semaphore.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type StoredAuditEntry } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import {
  apiTokensOf,
  archivesOf,
  auditEntriesAbout,
  containersOf,
  identitiesOf,
  invitationsOf,
  linkRequestsOf,
  linksOf,
  membershipsOf,
  sessionsOf,
  sharesOf,
  sshKeysOf,
  termEndsOf,
  usageOf,
} from '#/store/personal-data.ts'
import { findUser, type User } from '#/store/users.ts'

/** Who exports, for the audit log. */
interface Exporter {
  readonly id: number | null
  readonly email: string
  readonly address: string
}

/** Exports that one user may have under way. */
const maxPerUser = 1

/**
 * Everything that the store keeps about a user, without secrets and hashes of secrets, as one JSON document that is
 * read and sent piece by piece: an administrator may have a hundred thousand entries in the audit log.
 */
export class PersonalData {
  readonly #database: Database
  readonly #db: Db
  readonly #retention: RetentionTimes
  readonly #underWay = new KeyedLimit<number>({ ofKey: maxPerUser })

  constructor(database: Database, retention: RetentionTimes) {
    this.#database = database
    this.#db = database.db
    this.#retention = retention
  }

  /**
   * The document in pieces of text. Reading them to the end, or returning the iterator, ends the export.
   * @throws {Refusal} 404 · 429 while another export of this user is under way
   */
  async export(userId: number, now: Date): Promise<AsyncGenerator<string>> {
    const user = await findUser(this.#db, userId)
    if (!user) throw refusals.notFound('user')
    if (this.#underWay.isFull(userId)) throw refusals.tooManyAtOnce(maxPerUser)
    return this.#pieces(user, now)
  }

  /** The same as `export`, for the operator; the audit log has it. @throws {Refusal} as `export` */
  async exportFor(actor: Exporter, userId: number, now: Date): Promise<AsyncGenerator<string>> {
    const pieces = await this.export(userId, now)
    const entry = { at: now, actor, action: 'user.export', target: `user:${userId}` } as const
    await this.#database.transaction((tx) => insertAuditEntries(tx, [entry]))
    return pieces
  }

  async *#pieces(user: User, now: Date): AsyncGenerator<string> {
    const leave = this.#underWay.enter(user.id)
    // Another one began to be read meanwhile.
    if (!leave) throw refusals.tooManyAtOnce(maxPerUser)
    try {
      const account = accountOf(user)
      yield `{"format":1,"made_at":${JSON.stringify(now)},"kept_for":${JSON.stringify(this.#retention)},"account":${JSON.stringify(account)}`
      for (const [name, rows] of Object.entries(this.#sections(user))) yield* section(name, rows)
      yield '}\n'
    } finally {
      leave()
    }
  }

  /** In the order of the document; each is read when its turn comes. */
  #sections({ id, email }: User): PersonalSections {
    const db = this.#db
    const containerIds: number[] = []
    return {
      containers: map(containersOf(db, id), ({ parameters, ...row }) => {
        containerIds.push(row.id)
        return { ...row, parameters: parameters === null ? null : (JSON.parse(parameters) as Record<string, unknown>) }
      }),
      sessions: sessionsOf(db, id),
      links: linksOf(db, id),
      link_requests: linkRequestsOf(db, email),
      api_tokens: map(apiTokensOf(db, id), (row) => ({ ...row, scopes: row.scopes.split(' ') })),
      ssh_keys: sshKeysOf(db, id),
      identities: identitiesOf(db, id),
      groups: membershipsOf(db, id),
      invitations: invitationsOf(db, email),
      shares: map(sharesOf(db, id, email), ({ owner, email: address, manager, group, asked_in, port, ...row }) => ({
        ...row,
        is_own: owner === id,
        with: address ?? manager ?? group ?? '',
        asked_in: asked_in ?? '',
        port: port === 0 ? null : port,
      })),
      term_ends: termEndsOf(db, id),
      archives: archivesOf(db, id),
      usage: usageOf(db, id),
      audit_entries: auditSection(db, id, containerIds),
    }
  }
}

const accountOf = (user: User) => ({
  id: user.id,
  email: user.email,
  slug: user.slug,
  state: user.state,
  is_admin: user.isAdmin,
  is_blocked: user.isBlocked,
  last_used: user.lastUsed?.toISOString() ?? null,
  created_at: user.createdAt.toISOString(),
  extra_disk_bytes: user.extraDisk ?? null,
})

async function* map<A, B>(rows: AsyncIterable<A>, change: (row: A) => B): AsyncGenerator<B> {
  for await (const row of rows) yield change(row)
}

/** The ids are complete when this is read: containers come first. */
async function* auditSection(db: Db, userId: number, containerIds: readonly number[]) {
  for await (const entry of auditEntriesAbout(db, userId, containerIds))
    yield toLoggedAction(entry, userId, containerIds)
}

async function* section(name: string, rows: AsyncIterable<unknown>): AsyncGenerator<string> {
  yield `,${JSON.stringify(name)}:[`
  let isFirst = true
  for await (const row of rows) {
    yield `${isFirst ? '' : ','}${JSON.stringify(row)}`
    isFirst = false
  }
  yield ']'
}

type Lists = {
  readonly [
    K in keyof PersonalDataResponse as PersonalDataResponse[K] extends readonly unknown[] ? K : never
  ]: PersonalDataResponse[K] extends readonly (infer Row)[] ? Row : never
}

/** The lists of the document; each with the rows that the API describes. */
type PersonalSections = { readonly [K in keyof Lists]: AsyncIterable<Lists[K]> }

/** How long what is kept, in seconds, as the document says. */
type RetentionTimes = PersonalDataResponse['kept_for']

/** Lists of containers of several users in entries about a group. */
const containerLists = ['containers', 'still_blocked']

/**
 * Entries of others have their network address left out, and entries of this user about others everything but the own
 * address: those are facts about other people. Of a group's containers a user gets the own ones.
 */
function toLoggedAction(
  { id, at, actor, action, target, detail }: StoredAuditEntry,
  userId: number,
  containerIds: readonly number[],
): Lists['audit_entries'] {
  const isOwn = actor.id === userId
  const ownTargets = [`user:${userId}`, ...containerIds.map((each) => `container:${each}`)]
  const isAboutUser = ownTargets.includes(target) || detail.user === userId
  const { address, ...facts } = detail
  return {
    id,
    at: at.toISOString(),
    action,
    target,
    is_own: isOwn,
    detail: {
      ...(isAboutUser ? facts : ownContainersIn(facts, userId)),
      ...(isOwn && address !== undefined ? { address } : {}),
    },
  }
}

function ownContainersIn(facts: StoredAuditEntry['detail'], userId: number): Record<string, unknown[]> {
  const lists = containerLists.map((name): [string, unknown[]] => {
    const list: unknown = facts[name]
    return [name, Array.isArray(list) ? list.filter((each) => Object(each).user === userId) : []]
  })
  return Object.fromEntries(lists.filter(([, own]) => own.length > 0))
}
