import { createColumnHelper, rowSelectionFeature, rowSortingFeature, tableFeatures } from '@tanstack/react-table'
import type { ColumnDef, Row } from '@tanstack/react-table'

/** What every row of a list has. */
export interface Listed {
  readonly id: number
}

/** The metadata of a column. */
interface ColumnMeta {
  /** The text of its header, shown before its cells where rows are cards. */
  readonly label: string
  /** Its cells name their rows. */
  readonly isRowHeader?: boolean
}

/**
 * The used features of TanStack Table: columns, sorting and selection. The server sorts, filters and paginates, so no
 * row model is computed here.
 */
export const features = tableFeatures({ rowSortingFeature, rowSelectionFeature, columnMeta: {} as ColumnMeta })

export type Features = typeof features
export type Columns<R extends Listed> = readonly ColumnDef<Features, R, unknown>[]
export type TableRow<R extends Listed> = Row<Features, R>

export const columnsFor = <R extends Listed>() => createColumnHelper<Features, R>()
