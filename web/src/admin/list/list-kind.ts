import type { PagePath } from '#/paths.ts'
import type { BulkTarget } from '../bulk/run-bulk.ts'
import type { Columns, Listed } from '../table/columns.ts'
import type { RowAction } from '../table/row-menu.tsx'
import type { Choice } from './toolbar.tsx'
import type { Source } from './use-rows.ts'
import type { BulkKind } from '../bulk/bulk-jobs.tsx'

/** What distinguishes one list from another. */
export interface ListKind<R extends Listed> {
  readonly path: PagePath
  readonly className: string
  readonly source: Source<R>
  readonly columns: Columns<R>
  readonly choices: readonly Choice[]
  readonly bulk: BulkKind
  targetOf(row: R): BulkTarget
  /** Rows that bulk actions leave out: the administrator's own. */
  isLeftOut(id: number): boolean
  actionsOf(row: R): readonly RowAction[]
  readonly text: ListText
}

/** The texts of a list. */
export interface ListText {
  readonly caption: string
  readonly search: string
  found(count: number): string
  selected(count: number): string
  /** When no row matches, and when there are no rows: a sentence, and what to do. */
  readonly noMatch: readonly [string, string]
  readonly none: readonly [string, string]
  /** @param wanted blocked, or not */
  bulkTitle(wanted: boolean, count: number): string
  bulkLines(wanted: boolean): readonly string[]
}
