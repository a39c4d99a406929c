import { KeyedLimit } from '#/machine/keyed-limit.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import { findUser, type User } from '#/store/users.ts'
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
  termEndsOf,
  usageOf,
} from '#/store/personal-data.ts'
import type { PersonalSections, RetentionTimes } from './personal-sections.ts'
import { toApiToken, toLoggedAction, toContainer, toLink, toSession, toUsage } from './to-personal-data.ts'

/** Who exports, for the audit log. */
interface Exporter {
  readonly id: number | null
  readonly email: string
  readonly address: string
}

/** Exports that one user may have under way. */
const maxPerUser = 1

/**
 * Everything that the store keeps about a user, without secrets and hashes of secrets, as one JSON document that is read
 * and sent piece by piece: an administrator may have a hundred thousand entries in the audit log.
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

  /** As `export`, for the operator; the audit log has it. @throws {Refusal} as `export` */
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
      containers: map(containersOf(db, id), (row) => {
        containerIds.push(row.id)
        return toContainer(row)
      }),
      sessions: map(sessionsOf(db, id), toSession),
      links: map(linksOf(db, id), toLink),
      link_requests: map(linkRequestsOf(db, email), ({ requested_at }) => ({ requested_at: iso(requested_at) })),
      api_tokens: map(apiTokensOf(db, id), toApiToken),
      identities: map(identitiesOf(db, id), ({ issuer, subject, created_at }) => ({
        issuer,
        subject,
        created_at: iso(created_at),
      })),
      groups: map(membershipsOf(db, id), ({ group, role, source, created_at }) => ({
        group,
        role,
        source,
        created_at: iso(created_at),
      })),
      invitations: map(invitationsOf(db, email), ({ group, role, created_at }) => ({
        group,
        role,
        created_at: iso(created_at),
      })),
      shares: map(sharesOf(db, id, email), (share) => ({
        is_own: share.owner === id,
        type: share.type,
        with: share.email ?? share.manager ?? share.group ?? '',
        asked_in: share.asked_in ?? '',
        may: share.may,
        created_at: iso(share.created_at),
        expires_at: iso(share.expires_at),
      })),
      term_ends: map(termEndsOf(db, id), ({ group, state, problem, stays, downloads, started_at, keep_until }) => ({
        group,
        state,
        problem,
        stays,
        downloads,
        started_at: iso(started_at),
        kept_until: iso(keep_until),
      })),
      archives: map(archivesOf(db, id), ({ group, type, bytes, created_at }) => ({
        group,
        type,
        bytes,
        created_at: iso(created_at),
      })),
      usage: map(usageOf(db, id), toUsage),
      audit_entries: auditSection(db, id, containerIds),
    }
  }
}

const iso = (at: number) => new Date(at).toISOString()

const accountOf = (user: User) => ({
  id: user.id,
  email: user.email,
  slug: user.slug,
  state: user.state,
  is_admin: user.isAdmin,
  is_blocked: user.isBlocked,
  last_used: user.lastUsed?.toISOString() ?? null,
  created_at: user.createdAt.toISOString(),
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
