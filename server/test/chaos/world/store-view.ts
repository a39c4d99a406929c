import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import { Pool, TypeOverrides, type PoolClient } from 'pg'
import { headName } from '#/store/audit-chain.ts'
import type { Schema } from '#/store/schema.ts'

type Row<Table extends keyof Schema> = Selectable<Schema[Table]>

/** Everything that Berth has stored, at one moment. */
export interface Snapshot {
  readonly users: readonly Row<'users'>[]
  readonly containers: readonly Row<'user_containers'>[]
  readonly links: readonly Row<'magic_links'>[]
  readonly requests: readonly Row<'link_requests'>[]
  readonly shares: readonly Row<'container_shares'>[]
  readonly groups: readonly Row<'user_groups'>[]
  readonly members: readonly Row<'group_members'>[]
  readonly revoked: readonly Row<'revoked_tokens'>[]
  readonly audit: readonly Row<'audit_log'>[]
  /** Where the audit log ends, as it is kept beside it. */
  readonly auditHead: readonly { readonly value: string }[]
}

/** The store, looked at and held up from outside, without any of Berth's own code in between. */
export interface StoreView {
  snapshot(): Promise<Snapshot>
  /** Name of the installation. */
  installation(): Promise<string>
  /** Blocks all other writes, and with PostgreSQL reads. @param time ms */
  lock(time: number): Promise<void>
  /**
   * As another program that locks the records of these users, the newest first, holds it during `meanwhile`, and then locks
   * the others: against the order in which Berth does. Nothing, with SQLite, where one writer comes after the other.
   */
  lockRowsOf(userIds: readonly number[], meanwhile: () => Promise<void>): Promise<void>
  /** Adds so many links that can be used, and requests for links, of addresses without an account. */
  addLinks(count: number): Promise<void>
  removeLinks(): Promise<void>
  /** Whether anything has still to follow a clock that was moved. */
  isClockMoving(): Promise<boolean>
  close(): Promise<void>
}

/** Begins the addresses and hashes of what `addLinks` adds. */
const many = 'many-'

/** @param numbers a table `n (i)` of the numbers up to the count */
const addLinksQueries = (numbers: string, now: number) => [
  `${numbers} insert into link_requests (email, mailbox, requested_at)
    select '${many}' || i || '@chaos.test', '${many}' || i || '@chaos.test', ${now} from n`,
  `${numbers} insert into magic_links (user_id, token_hash, token_type, expires_at, ip_address, created_at)
    select (select min(id) from users), '${many}' || i, 'login', ${now + 900_000}, '::1', ${now} from n`,
]
const removeLinksQueries = [
  `delete from link_requests where email like '${many}%'`,
  `delete from magic_links where token_hash like '${many}%'`,
]
const movingQuery = 'select count(*) as count from clock_moves'

const tables = {
  users: 'select * from users order by id',
  containers: 'select * from user_containers order by id',
  links: 'select * from magic_links order by id',
  requests: 'select * from link_requests order by id',
  shares: 'select * from container_shares order by id',
  groups: 'select * from user_groups order by id',
  members: 'select * from group_members order by id',
  revoked: 'select * from revoked_tokens',
  audit: 'select * from audit_log order by id',
  auditHead: `select value from installation where name = '${headName}'`,
} as const

const nameQuery = "select value from installation where name = 'instance'"

/** @param url PostgreSQL's; null: the SQLite file in this folder */
export function viewStore(url: string | null, dataDir: string): StoreView {
  return url === null ? sqliteView(path.join(dataDir, 'berth.sqlite')) : postgresView(url)
}

function sqliteView(file: string): StoreView {
  // Opened for each look: a connection that stays would keep what a crash left behind from being tidied up.
  const look = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(file, { timeout: 10_000 })
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  return {
    snapshot: async () =>
      look((database) => {
        database.exec('begin')
        const rows = Object.entries(tables).map(([name, query]) => [name, database.prepare(query).all()])
        database.exec('commit')
        return Object.fromEntries(rows) as Snapshot
      }),
    installation: async () => look((database) => String(database.prepare(nameQuery).get()?.value)),
    lock: async (time) => {
      const database = new DatabaseSync(file, { timeout: 10_000 })
      database.exec('begin exclusive')
      await sleep(time)
      database.exec('commit')
      database.close()
    },
    lockRowsOf: async (_userIds, meanwhile) => meanwhile(),
    addLinks: async (count) =>
      look((database) => {
        const numbers = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})`
        for (const query of addLinksQueries(numbers, Date.now())) database.exec(query)
      }),
    removeLinks: async () =>
      look((database) => {
        for (const query of removeLinksQueries) database.exec(query)
      }),
    isClockMoving: async () => look((database) => Number(database.prepare(movingQuery).get()?.count) > 0),
    close: async () => undefined,
  }
}

function postgresView(url: string): StoreView {
  const bigint = 20
  const types = new TypeOverrides()
  types.setTypeParser(bigint, Number)
  const pool = new Pool({ connectionString: url, types, max: 2 })
  const within = async (isolation: string, work: (client: PoolClient) => Promise<void>) => {
    const client = await pool.connect()
    try {
      await client.query(`begin isolation level ${isolation}`)
      await work(client)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
  return {
    snapshot: async () => {
      const found: Record<string, unknown[]> = {}
      await within('repeatable read', async (client) => {
        for (const [name, query] of Object.entries(tables)) found[name] = (await client.query(query)).rows
      })
      return found as unknown as Snapshot
    },
    installation: async () => String((await pool.query(nameQuery)).rows[0]?.value),
    lock: (time) =>
      within('read committed', async (client) => {
        await client.query('lock table users, user_containers, magic_links in access exclusive mode')
        await sleep(time)
      }),
    lockRowsOf: (userIds, meanwhile) =>
      within('read committed', async (client) => {
        const query = 'select id from user_containers where user_id = any($1) order by id desc'
        const { rows } = await client.query<{ id: number }>(query, [userIds])
        for (const [index, { id }] of rows.entries()) {
          await client.query('select id from user_containers where id = $1 for update', [id])
          if (index === 0) await meanwhile()
        }
        if (rows.length === 0) await meanwhile()
      }).catch((error: unknown) => {
        // Of a deadlock either may be the one that is ended.
        if ((error as { code?: string }).code !== '40P01') throw error
      }),
    addLinks: async (count) => {
      const numbers = `with n (i) as (select generate_series(1, ${count}))`
      for (const query of addLinksQueries(numbers, Date.now())) await pool.query(query)
    },
    removeLinks: async () => {
      for (const query of removeLinksQueries) await pool.query(query)
    },
    isClockMoving: async () => Number((await pool.query(movingQuery)).rows[0]?.count) > 0,
    close: () => pool.end(),
  }
}
