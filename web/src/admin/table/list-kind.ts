import type { PagePath } from '#/paths.ts'
import type { Target } from './bulk.ts'
import type { Columns, Listed } from './row.ts'
import type { RowAction } from './row-menu.tsx'
import type { Choice } from './toolbar.tsx'
import type { Source } from './use-rows.ts'
import type { BulkKind } from './work.tsx'

/** What makes one list different from another. */
export interface ListKind<R extends Listed> {
  readonly path: PagePath
  readonly className: string
  readonly source: Source<R>
  readonly columns: Columns<R>
  readonly choices: readonly Choice[]
  readonly bulk: BulkKind
  targetOf(row: R): Target
  /** Rows that bulk work leaves out by itself, because they are one's own. */
  isLeftOut(id: number): boolean
  actionsOf(row: R): readonly RowAction[]
  readonly words: ListWords
}

/** What a list says of its rows. */
export interface ListWords {
  readonly caption: string
  readonly search: string
  found(count: number): string
  selected(count: number): string
  /** When nothing matches, and when there is nothing at all: a sentence, and what helps. */
  readonly nothing: readonly [string, string]
  readonly none: readonly [string, string]
  /** @param wanted blocked, or not */
  bulkTitle(wanted: boolean, count: number): string
  bulkLines(wanted: boolean): readonly string[]
}
