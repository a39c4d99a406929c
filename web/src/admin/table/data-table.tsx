import { useMemo, useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { functionalUpdate, useTable, type SortingState } from '@tanstack/react-table'
import { BodyRow, type RowEvents } from './body-row.tsx'
import { TableHead } from './table-head.tsx'
import { RowMenu, type RowAction, type RowMenuHandle } from './row-menu.tsx'
import { features, type Columns, type Listed } from './columns.ts'
import { isSelected, withRows, type Selection } from '../bulk/selection.ts'
import { RecycledRows, strayIn } from './recycled-rows.ts'
import { useRowFocus } from './use-row-focus.ts'
import { useVirtualRows } from './use-virtual-rows.ts'
import type { Rows } from '../list/use-rows.ts'
import { fromSort, toSort } from '../list/view.ts'
import { useStableCallbacks } from './use-stable-callbacks.ts'

interface DataTableProps<R extends Listed> {
  /** CSS class for the widths of the columns. */
  className: string
  caption: string
  columns: Columns<R>
  list: Rows<R>
  /** In the API's notation; undefined is the order of creation. */
  sort: string | undefined
  onSort(sort: string | undefined): void
  selection: Selection
  onSelect(selection: Selection): void
  nameOf(row: R): string
  /** The entries of a row's menu. */
  actionsOf(row: R): readonly RowAction[]
  /** Shown after the last row: that more rows are loading, or an error. */
  children?: ReactNode
}

/**
 * A list of any length. Only the rows in view are in the document and given to TanStack Table, so the cost of a scroll
 * does not depend on how many are loaded. To assistive technology it is one grid with all its rows.
 */
export function DataTable<R extends Listed>(props: DataTableProps<R>) {
  const { list, columns, selection, onSelect, nameOf } = props
  const { rows, total } = list
  const t = useTranslations('admin.table')
  const grid = useRef<HTMLTableElement>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const menu = useRef<RowMenuHandle>(null)
  const ids = useMemo(() => rows.map(({ id }) => id), [rows])

  function openMenu(index: number, anchor: HTMLElement) {
    const row = rows[index]
    if (row) menu.current?.open({ label: t('actionsOf', { name: nameOf(row) }), anchor, actions: props.actionsOf(row) })
  }
  const focus = useRowFocus({
    grid,
    ids,
    selection,
    onSelect,
    show: (index) => virtual.scrollToIndex(index),
    onMenu: openMenu,
  })

  const { current } = focus
  const virtual = useVirtualRows({ body, ids, list, current })
  const { items, margin } = virtual
  const inView = items.map(({ index }) => index)
  const [recycled] = useState(() => new RecycledRows())
  const elementOf = recycled.of(inView)
  const stray = strayIn(inView, current)
  const first = items.find(({ index }) => index !== stray)
  const data = items.map(({ index }) => rows[index]!)
  const sorting: SortingState = props.sort === undefined ? [] : [fromSort(props.sort)]
  const table = useTable<typeof features, R>({
    features,
    columns: columns as never,
    data,
    getRowId: ({ id }) => String(id),
    manualSorting: true,
    enableMultiSort: false,
    state: {
      sorting,
      rowSelection: Object.fromEntries(
        data.filter(({ id }) => isSelected(selection, id)).map(({ id }) => [id, true as const]),
      ),
    },
    onSortingChange: (updater) => {
      const [next] = functionalUpdate(updater, sorting)
      props.onSort(next && toSort(next.id, next.desc))
    },
  })

  const events = useStableCallbacks<RowEvents>({ select: focus.select, focus: focus.take, menu: openMenu })
  const selectedHere = ids.filter((id) => isSelected(selection, id)).length
  return (
    <>
      <table
        role="grid"
        ref={grid}
        className={`data-table ${props.className}`}
        aria-rowcount={total === undefined ? -1 : total + 1}
        aria-multiselectable
        aria-busy={list.isStale}
        onKeyDown={focus.onKeyDown}
        onContextMenu={(event) => event.button !== 2 && event.preventDefault()}
      >
        <caption className="visually-hidden">
          {props.caption}. {t('hint')}
        </caption>
        <TableHead
          headers={table.getHeaderGroups()[0]?.headers ?? []}
          selected={selectedHere === 0 ? 'none' : selectedHere === ids.length ? 'all' : 'some'}
          onSelectAll={(isOn) => onSelect(withRows(selection, ids, isOn))}
        />
        <tbody
          role="rowgroup"
          ref={body}
          // One style for all rows. With one in each row Chromium compared each cell with those of earlier scrolls.
          style={{ height: virtual.totalSize, paddingTop: first && first.start - margin }}
        >
          {table.getRowModel().rows.map((row, at) => {
            const { index, start } = items[at]!
            return (
              <BodyRow<R>
                key={elementOf[at]}
                row={row}
                columns={columns}
                index={index}
                name={nameOf(row.original)}
                isSelected={row.getIsSelected()}
                isCurrent={index === current}
                top={index === stray ? start - margin : undefined}
                measure={virtual.measureElement}
                events={events}
              />
            )
          })}
        </tbody>
      </table>
      {props.children}
      <RowMenu ref={menu} />
    </>
  )
}
