import { createHash } from 'node:crypto'
import type { Schema } from '#/store/schema.ts'

/**
 * Every table with the column that orders it, in an order in which no row refers to one that comes later. A new table
 * does not compile until it is here.
 */
export const storeTables: Readonly<Record<keyof Schema, string>> = {
  installation: 'name',
  users: 'id',
  used_slugs: 'slug',
  user_containers: 'id',
  magic_links: 'id',
  link_requests: 'id',
  revoked_tokens: 'jti',
  sessions: 'id',
  api_tokens: 'id',
  audit_log: 'id',
  audit_personal_facts: 'position',
  kept_homes: 'volume',
  removals: 'id',
  clock_moves: 'table_name',
  identities: 'id',
  provider_sessions: 'session_id',
  user_groups: 'id',
  group_members: 'id',
  group_invitations: 'id',
  container_shares: 'id',
  group_blocks: 'id',
  usage_sums: 'id',
  term_ends: 'id',
  term_end_members: 'id',
  home_archives: 'id',
  archive_links: 'id',
}

export const tableNames = Object.keys(storeTables) as readonly (keyof Schema)[]

/** Rows in one read or write. */
export const pageSize = 5_000

/** Values of one row, in the order of the columns. */
export type Row = readonly (number | string | null)[]

/** What a table has: its rows, their SHA-256 in the order of the key, and the last id that was ever given. */
export interface TableSummary {
  readonly rows: number
  readonly sha256: string
  /** Null for a table without generated ids. Ids are never given twice, so it may be above the largest. */
  readonly lastId: number | null
}

export type StoreSummary = Readonly<Record<string, TableSummary>>

/** A store that can be read in one snapshot. */
export interface StoreSource {
  /** Name of the last migration. */
  readonly migration: string
  /** Columns of a table in alphabetical order; none where the store is of a version before the table. */
  columns(table: string): Promise<string[]>
  /** All rows by the table's key, page by page. */
  pages(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]>
  lastId(table: string): Promise<number | null>
  close(): Promise<void>
}

/** Counts and hashes rows that go by. */
export class RowCounter {
  readonly #hash = createHash('sha256')
  #rows = 0

  add(rows: readonly Row[]): void {
    this.#rows += rows.length
    for (const row of rows) this.#hash.update(`${JSON.stringify(row)}\n`)
  }

  summary(lastId: number | null): TableSummary {
    return { rows: this.#rows, sha256: this.#hash.digest('hex'), lastId }
  }
}

/** Reads a whole store: the tables that it has. */
export async function summarize(source: StoreSource): Promise<StoreSummary> {
  const summary: Record<string, TableSummary> = {}
  for (const table of tableNames) {
    const columns = await source.columns(table)
    if (columns.length === 0) continue
    const counter = new RowCounter()
    for await (const rows of source.pages(table, columns)) counter.add(rows)
    summary[table] = counter.summary(await source.lastId(table))
  }
  return summary
}

/** Tables in which two stores differ; empty when they are equal. */
export function differences(one: StoreSummary, other: StoreSummary): string[] {
  return tableNames.filter((table) => JSON.stringify(one[table]) !== JSON.stringify(other[table]))
}
