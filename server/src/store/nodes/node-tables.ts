import { Kysely } from 'kysely'
import { postgresDialect } from '../dialects/postgres-dialect.ts'
import type { Schema } from '../schema.ts'

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

/** Connections apart from those of requests, so that a lease is renewed while these wait. @throws never; queries do */
export async function openNodeTables(url: string): Promise<NodeDb> {
  return new Kysely<NodeTables>({ dialect: await postgresDialect(url, { maxConnections: 2 }) })
}

/** The same tables through the connections of an open store. */
export const nodeTablesIn = (db: Kysely<Schema>): NodeDb => db as unknown as NodeDb
