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
import { usageColumns, type UsageSums } from '#/store/usage-sums.ts'
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
      containers: map(containersOf(db, id), (row) => {
        containerIds.push(row.id)
        return toContainer(row)
      }),
      sessions: map(sessionsOf(db, id), toSession),
      links: map(linksOf(db, id), toLink),
      link_requests: map(linkRequestsOf(db, email), ({ requested_at }) => ({ requested_at: iso(requested_at) })),
      api_tokens: map(apiTokensOf(db, id), toApiToken),
      ssh_keys: map(sshKeysOf(db, id), toSshKey),
      identities: map(identitiesOf(db, id), ({ issuer, subject, created_at }) => ({
        issuer,
        subject,
        created_at: iso(created_at),
      })),
      groups: map(membershipsOf(db, id), ({ group, name, role, source, created_at }) => ({
        group,
        name,
        role,
        source,
        created_at: iso(created_at),
      })),
      invitations: map(invitationsOf(db, email), ({ group, name, role, created_at }) => ({
        group,
        name,
        role,
        created_at: iso(created_at),
      })),
      shares: map(sharesOf(db, id, email), (share) => ({
        is_own: share.owner === id,
        type: share.type,
        with: share.email ?? share.manager ?? share.group ?? '',
        asked_in: share.asked_in ?? '',
        may: share.may,
        port: share.port === 0 ? null : share.port,
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

type RowOf<F extends (...parameters: never[]) => AsyncIterable<unknown>> =
  ReturnType<F> extends AsyncIterable<infer Row> ? Row : never
type Entry<K extends keyof PersonalDataResponse> = PersonalDataResponse[K] extends readonly (infer E)[] ? E : never
const isoOrNull = (at: number | null) => (at === null ? null : iso(at))

function toContainer(row: RowOf<typeof containersOf>): Entry<'containers'> {
  return {
    id: row.id,
    type: row.container_type,
    container_id: row.container_id,
    image: row.template_image,
    parameters: row.parameters === null ? null : (JSON.parse(row.parameters) as Record<string, unknown>),
    created_at: iso(row.created_at),
    last_used: isoOrNull(row.last_used),
    stopped_at: isoOrNull(row.stopped_at),
    is_stop_requested: row.is_stop_requested === 1,
    running_since: isoOrNull(row.running_since),
    retired_at: isoOrNull(row.retired_at),
    full_layer: row.full_layer,
    is_blocked: row.is_blocked === 1,
    blocked_at: isoOrNull(row.blocked_at),
  }
}

function toSession(row: RowOf<typeof sessionsOf>): Entry<'sessions'> {
  return {
    id: row.id,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    last_used: isoOrNull(row.last_used),
    began: row.began,
    address: row.address,
    browser: row.browser,
    ended_at: isoOrNull(row.ended_at),
    ended_why: row.ended_why,
    taken_over_by: row.acting_admin_email,
    reason: row.reason,
  }
}

function toLink(row: RowOf<typeof linksOf>): Entry<'links'> {
  return {
    purpose: row.token_type,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    used_at: isoOrNull(row.used_at),
    mailed_at: isoOrNull(row.accepted_at),
    address: row.ip_address,
  }
}

function toApiToken(row: RowOf<typeof apiTokensOf>): Entry<'api_tokens'> {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes.split(' '),
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
    last_used: isoOrNull(row.last_used),
  }
}

function toSshKey(row: RowOf<typeof sshKeysOf>): Entry<'ssh_keys'> {
  return {
    id: row.id,
    title: row.title,
    type: row.key_type,
    fingerprint: row.fingerprint,
    created_at: iso(row.created_at),
    last_used: isoOrNull(row.last_used),
  }
}

function toUsage(row: RowOf<typeof usageOf>): Entry<'usage'> {
  const sums = Object.fromEntries(usageColumns.map((name) => [name, row[name]])) as unknown as UsageSums
  return { type: row.container_type, unit: row.unit, period: row.period, ...sums }
}

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
): Entry<'audit_entries'> {
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
