import { memo, useLayoutEffect, useRef, type MouseEvent, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { flexRender } from '@tanstack/react-table'
import type { Columns, Listed, TableRow } from './columns.ts'

/** The callbacks of a row; the same object for the lifetime of the table. */
export interface RowEvents {
  select(index: number, isOn: boolean, isRange: boolean): void
  focus(index: number): void
  menu(index: number, anchor: HTMLElement): void
}

interface BodyRowProps<R extends Listed> extends CellsProps<R> {
  index: number
  /** The name of the row in messages. */
  name: string
  isSelected: boolean
  /** The row is the tab stop of the table. */
  isCurrent: boolean
  /**
   * Offset from the beginning of the rows in pixels, for a row away from the others; those follow one after the other.
   */
  top: number | undefined
  /** Measures the height of the row. */
  measure(row: HTMLTableRowElement | null): void
  events: RowEvents
}

function Row<R extends Listed>({
  row,
  columns,
  index,
  name,
  isSelected,
  isCurrent,
  top,
  measure,
  events,
}: BodyRowProps<R>) {
  const t = useTranslations('admin.table')
  const element = useRef<HTMLTableRowElement>(null)
  // The element showed another row before, or another row has this index since the list was reloaded. It may have the
  // same height, so that no resize event measures this one.
  useLayoutEffect(() => measure(element.current), [measure, index, row.id])
  const tabIndex = isCurrent ? 0 : -1
  const toggle = ({ shiftKey }: MouseEvent) => events.select(index, !isSelected, shiftKey)
  return (
    <tr
      role="row"
      ref={element}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={tabIndex}
      style={top === undefined ? undefined : { position: 'absolute', insetInline: 0, top }}
      onFocus={() => events.focus(index)}
    >
      <td role="gridcell" className="select-cell">
        <label className="select-box">
          <input
            type="checkbox"
            aria-label={t('selectRow', { name })}
            tabIndex={tabIndex}
            checked={isSelected}
            onClick={toggle}
            onChange={() => undefined}
          />
        </label>
      </td>
      <Cells row={row} columns={columns} />
      <td role="gridcell" className="menu-cell">
        <button
          type="button"
          className="menu-button"
          tabIndex={tabIndex}
          aria-haspopup="menu"
          aria-label={t('actionsOf', { name })}
          onClick={(event) => events.menu(index, event.currentTarget)}
        />
      </td>
    </tr>
  )
}

interface CellsProps<R extends Listed> {
  row: TableRow<R>
  /** A change renders the row again; the row has them itself. */
  columns: Columns<R>
}

/** The cells of a row. Selection and keyboard focus change nothing here. */
const Cells = memo(
  function Cells<R extends Listed>({ row }: CellsProps<R>) {
    return row.getAllCells().map((cell) => {
      const { column } = cell
      const { meta } = column.columnDef
      const content = flexRender(column.columnDef.cell, cell.getContext())
      return meta?.isRowHeader ? (
        <th key={column.id} role="rowheader" scope="row" className={column.id}>
          {content}
        </th>
      ) : (
        <td key={column.id} role="gridcell" className={column.id} data-label={meta?.label}>
          {content}
        </td>
      )
    })
  },
  (before, after) => before.row.original === after.row.original && before.columns === after.columns,
) as <R extends Listed>(props: CellsProps<R>) => ReactNode

/**
 * One row. Scrolling renders only rows that come into view: TanStack Table creates new row objects with every slice, so
 * the comparison is by their data.
 */
export const BodyRow = memo(Row, (before, after) => {
  const { row: rowBefore, ...others } = before
  const { row: rowAfter, ...now } = after
  return (
    rowBefore.original === rowAfter.original &&
    (Object.keys(now) as (keyof typeof now)[]).every((key) => others[key] === now[key])
  )
}) as typeof Row
