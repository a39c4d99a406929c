import { Kysely, sql } from 'kysely'
import { hashToken } from '../server/src/accounts/sign-up/magic-link.ts'
import { openDatabase, type Db } from '../server/src/store/database.ts'
import { postgresDialect } from '../server/src/store/open/postgres-dialect.ts'
import type { Schema } from '../server/src/store/schema.ts'

/** The users that the load concerns; they are in every store. */
export const loadUsers = {
  /** Active; they log in, read and log out. The first is an administrator. */
  active: 200,
  /** Never verified, each with one signup link. */
  registered: 2_400,
  /** Login links of the active users, in turn. */
  loginLinks: 5_000,
} as const

export interface Crowd {
  readonly people: number
  readonly links: number
}

export const activeEmail = (index: number) => `active${index % loadUsers.active}@bench.test`
export const signupToken = (index: number) => `signup-link-number-${index}-of-the-bench`
export const loginToken = (index: number) => `login-link-number-${index}-of-the-bench`

/** A connection without the statement timeout of some seconds that Berth's own ones have. @param url of PostgreSQL */
export const withoutTimeouts = async (url: string): Promise<Kysely<Schema>> =>
  new Kysely<Schema>({ dialect: await postgresDialect(url, { withoutTimeouts: true }) })

/** Beginning of a statement: a table `numbers` with the numbers `n` from 1. */
export const numbersUpTo = (count: number, isPostgres: boolean): string =>
  isPostgres
    ? `with numbers(n) as (select generate_series(1, ${count}::bigint))`
    : `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})`

const day = 86_400_000
/** One in this many links of the other users is unused. */
const unusedOf = 20

/**
 * Creates and fills the tables, background users first: each with a record, links of the last day of which one in 20 is
 * unused, a fifth of them requested within the last two hours, and a sign-out for every second user.
 * @param url `postgres://...`, or null for SQLite in `dataDir`
 */
export async function fillStore(url: string | null, dataDir: string, crowd: Crowd): Promise<void> {
  const database = await openDatabase(url, dataDir)
  const isPostgres = url !== null
  const db = isPostgres ? await withoutTimeouts(url) : database.db
  try {
    await db.transaction().execute(async (tx) => {
      if (crowd.people > 0) await fillCrowd(tx, isPostgres, crowd)
      await fillCast(tx, crowd.people)
    })
    // Autovacuum would do it within a minute; Berth never analyzes SQLite.
    if (isPostgres) await sql`analyze`.execute(db)
  } finally {
    if (isPostgres) await db.destroy()
    await database.close()
  }
}

async function fillCrowd(tx: Db, isPostgres: boolean, { people, links }: Crowd): Promise<void> {
  const now = Date.now()
  const run = (text: string) => sql.raw(text).execute(tx)
  const numbers = (count: number) => numbersUpTo(count, isPostgres)
  const hash = isPostgres ? `encode(sha256(('link' || n)::bytea), 'hex')` : 'lower(hex(randomblob(32)))'
  const createdAt = `${now} - (n % 86000) * 1000`
  await run(`${numbers(people)} insert into users (email, slug, state, is_admin, is_blocked, last_used, created_at)
    select 'person' || n || '@crowd.test', 'person' || n, 'active', 0, 0, ${now - day}, ${now - 30 * day} from numbers`)
  await run(`insert into used_slugs (slug) select slug from users`)
  await run(`insert into user_containers (user_id, container_type, template_image, created_at, is_blocked)
    select id, 'dev', 'nowhere:latest', ${now - day}, 0 from users`)
  await run(`${numbers(links)} insert into magic_links
      (user_id, token_hash, token_type, expires_at, ip_address, used_at, created_at)
    select 1 + n % ${people}, ${hash}, 'login', ${createdAt} + ${2 * day}, '192.0.2.1',
      case when n % ${unusedOf} = 0 then null else ${createdAt} + 60000 end, ${createdAt} from numbers`)
  await run(`${numbers(Math.ceil(links / 5))} insert into link_requests (email, requested_at)
    select 'person' || (1 + n % ${people}) || '@crowd.test', ${now} - (n % 7100) * 1000 from numbers`)
  await run(`${numbers(Math.ceil(people / 2))} insert into revoked_tokens (jti, expires_at)
    select 'era.' || n, ${now} + (n % 3600) * 1000 from numbers`)
}

async function fillCast(tx: Db, before: number): Promise<void> {
  const now = Date.now()
  const people = [
    ...Array.from({ length: loadUsers.active }, (_, index) => personOf(`active${index}`, 'active', index === 0)),
    ...Array.from({ length: loadUsers.registered }, (_, index) => personOf(`registered${index}`, 'registered', false)),
  ]
  const links = [
    ...Array.from({ length: loadUsers.loginLinks }, (_, index) => ({
      user_id: before + 1 + (index % loadUsers.active),
      token_hash: hashToken(loginToken(index)),
      token_type: 'login' as const,
    })),
    ...Array.from({ length: loadUsers.registered }, (_, index) => ({
      user_id: before + loadUsers.active + 1 + index,
      token_hash: hashToken(signupToken(index)),
      token_type: 'signup' as const,
    })),
  ]
  await inParts(people, (part) => tx.insertInto('users').values(part).execute())
  await inParts(people, (part) =>
    tx
      .insertInto('used_slugs')
      .values(part.map(({ slug }) => ({ slug })))
      .execute(),
  )
  const common = { expires_at: now + 2 * day, ip_address: '192.0.2.1', used_at: null, created_at: now }
  await inParts(links, (part) =>
    tx
      .insertInto('magic_links')
      .values(part.map((link) => ({ ...link, ...common })))
      .execute(),
  )
}

const personOf = (slug: string, state: 'active' | 'registered', isAdmin: boolean) => ({
  email: `${slug}@bench.test`,
  slug,
  state,
  is_admin: Number(isAdmin),
  is_blocked: 0,
  last_used: null,
  created_at: Date.now() - day,
})

/** A statement has a maximum of parameters. */
async function inParts<T>(rows: readonly T[], insert: (part: T[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < rows.length; start += 500) await insert(rows.slice(start, start + 500))
}
