import { Kysely } from 'kysely'
import { postgresDialect } from '#/store/open/postgres-dialect.ts'
import type { Schema } from './schema.ts'

/** Tables that only PostgreSQL has, for several nodes; not in `Schema`, because no backup and no copy has them. */
export interface NodeTables {
  nodes: {
    /** `NODE_ADDRESS` */
    address: string
    version: string
    /** Of the connections between nodes; null: of a version that did not say. */
    protocol: number | null
    started_at: Date
    /** Heartbeat, by the clock of the database. */
    seen_at: Date
  }
  /** One row: the lease of the leader. */
  leadership: {
    id: number
    /** Goes up by one with each leader. */
    epoch: number
    /** Null: no node leads. */
    node: string | null
    since: Date
    /** By the clock of the database. */
    renewed_at: Date
  }
  node_secrets: {
    name: string
    sealed: string
  }
}

export type NodeDb = Kysely<NodeTables>

/**
 * Timeout of a query and of a connection, in ms. Shorter than that of requests: what is asked of a server that is gone, as in a
 * failover, is asked of the next one soon.
 */
const timeout = 2_000

/** Connections apart from those of requests. @throws never; queries do */
export async function openNodeTables(url: string): Promise<NodeDb> {
  return new Kysely<NodeTables>({ dialect: await postgresDialect(url, { maxConnections: 2, timeout }) })
}

/**
 * One connection for the lease of a leader alone. Its timeout is longer than a leader has to renew its lease, so that a leader whose
 * requests reach the database and whose answers are lost renews once more, and not again on another connection.
 * @throws never; queries do
 */
export async function openLeaseTables(url: string): Promise<NodeDb> {
  return new Kysely<NodeTables>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
}

/** The same tables through the connections of an open store. */
export const nodeTablesIn = (db: Kysely<Schema>): NodeDb => db as unknown as NodeDb
