import { createColumnHelper, rowSelectionFeature, rowSortingFeature, tableFeatures } from '@tanstack/react-table'
import type { ColumnDef, Row } from '@tanstack/react-table'

/** What every row of a list has. */
export interface Listed {
  readonly id: number
}

/** What a column is beside its cells. */
export interface ColumnMeta {
  /** The words of its header, which stand in front of its cells where rows are cards. */
  readonly label: string
  /** Its cells name their rows. */
  readonly isRowHeader?: boolean
}

/**
 * What is used of TanStack Table: columns, order and selection. Rows are put in order, filtered and cut into pages by the
 * server, so that no row model is computed here.
 */
export const features = tableFeatures({ rowSortingFeature, rowSelectionFeature, columnMeta: {} as ColumnMeta })

export type Features = typeof features
export type Columns<R extends Listed> = readonly ColumnDef<Features, R, unknown>[]
export type TableRow<R extends Listed> = Row<Features, R>

export const columnsFor = <R extends Listed>() => createColumnHelper<Features, R>()
