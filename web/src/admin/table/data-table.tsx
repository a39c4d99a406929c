import { functionalUpdate, useTable, type Header, type SortingState } from '@tanstack/react-table'
import { useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { isSelected, withRows, type Selection } from '#/admin/bulk/selection.ts'
import type { Rows } from '#/admin/list/use-rows.ts'
import { fromSort, toSort } from '#/admin/list/view.ts'
import { RowMenu, type RowAction, type RowMenuHandle } from '#/components/menu.tsx'
import { BodyRow, type RowEvents } from './body-row.tsx'
import { features, type Columns, type Features, type Listed } from './columns.ts'
import { RecycledRows, strayIn } from './recycled-rows.ts'
import { useRowFocus } from './use-row-focus.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

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

interface TableHeadProps<R extends Listed> {
  headers: readonly Header<Features, R, unknown>[]
  /** Whether all loaded rows are selected, some, or none. */
  selected: 'all' | 'some' | 'none'
  onSelectAll(isOn: boolean): void
}

/** The header row: names of the columns, and buttons that sort. */
function TableHead<R extends Listed>({ headers, selected, onSelectAll }: TableHeadProps<R>) {
  const t = useTranslations('admin.table')
  return (
    <thead role="rowgroup">
      <tr role="row" aria-rowindex={1}>
        <th role="columnheader" className="select-cell">
          <label className="select-box">
            <input
              type="checkbox"
              aria-label={t('selectLoaded')}
              checked={selected === 'all'}
              ref={(box) => {
                if (box) box.indeterminate = selected === 'some'
              }}
              onChange={(event) => onSelectAll(event.target.checked)}
            />
          </label>
        </th>
        {headers.map((header) => (
          <HeadCell key={header.id} header={header} />
        ))}
        <th role="columnheader" className="menu-cell">
          <span className="visually-hidden">{t('actions')}</span>
        </th>
      </tr>
    </thead>
  )
}

const ariaSort = { asc: 'ascending', desc: 'descending' } as const

function HeadCell<R extends Listed>({ header: { column } }: { header: Header<Features, R, unknown> }) {
  const label = column.columnDef.meta?.label
  const sorted = column.getIsSorted()
  if (!column.getCanSort())
    return (
      <th role="columnheader" className="plain">
        {label}
      </th>
    )
  return (
    <th role="columnheader" aria-sort={sorted === false ? 'none' : ariaSort[sorted]}>
      <button type="button" className="sort" onClick={column.getToggleSortingHandler()}>
        {label}
        <span className={`arrow ${sorted === false ? '' : sorted}`} aria-hidden />
      </button>
    </th>
  )
}

/** An object that never changes, whose functions call the latest ones: rows need not render again for new callbacks. */
function useStableCallbacks<T extends { readonly [K in keyof T]: (...args: never[]) => void }>(functions: T): T {
  const latest = useRef(functions)
  useLayoutEffect(() => {
    latest.current = functions
  })
  const [steady] = useState(() => {
    const names = Object.keys(functions) as (keyof T)[]
    const call =
      (name: keyof T) =>
      (...args: never[]) =>
        latest.current[name](...args)
    return Object.fromEntries(names.map((name) => [name, call(name)])) as T
  })
  return steady
}
