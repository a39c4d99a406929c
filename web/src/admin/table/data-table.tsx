import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
  type RefObject,
} from 'react'
import { useTranslations } from 'use-intl/react'
import { functionalUpdate, useTable, type SortingState } from '@tanstack/react-table'
import { defaultRangeExtractor, useWindowVirtualizer, type Range } from '@tanstack/react-virtual'
import { BodyRow, type RowEvents } from './body-row.tsx'
import { TableHead } from './table-head.tsx'
import { RowMenu, type RowAction, type RowMenuHandle } from './row-menu.tsx'
import { features, type Columns, type Listed } from './columns.ts'
import { isSelected, withRows, type Selection } from '../bulk/selection.ts'
import { RecycledRows, strayIn } from './recycled-rows.ts'
import { useNarrow } from './use-narrow.ts'
import { useRowFocus } from './use-row-focus.ts'
import type { Rows } from '../list/use-rows.ts'
import { fromSort, toSort } from '../list/view.ts'

interface DataTableProps<R extends Listed> {
  /** Of the style sheet, for the widths of the columns. */
  className: string
  caption: string
  columns: Columns<R>
  list: Rows<R>
  /** As the API writes it; undefined is the order in which rows were made. */
  sort: string | undefined
  onSort(sort: string | undefined): void
  selection: Selection
  onSelect(selection: Selection): void
  nameOf(row: R): string
  /** What can be done to a row, for its menu. */
  actionsOf(row: R): readonly RowAction[]
  /** After the last row: that more are loading, or why not. */
  children?: ReactNode
}

/** Pixels that a row has, until it is measured. */
const usual = { row: 49, card: 142 }
/** Pixels at the top and bottom of the window that the header and the bar of the selection take. */
const covered = { top: 48, bottom: 152 }
/** How many rows before the last one the next page is asked for. */
const ahead = 40

/**
 * A list of any length. Only the rows in view are in the document, and only they are given to TanStack Table: what a
 * scroll costs does not depend on how many are loaded. To assistive technology it is one grid with all its rows.
 */
export function DataTable<R extends Listed>(props: DataTableProps<R>) {
  const { list, columns, selection, onSelect, nameOf } = props
  const { rows, total, hasMore, isLoadingMore, error, loadMore } = list
  const t = useTranslations('admin.table')
  const isNarrow = useNarrow()
  const grid = useRef<HTMLTableElement>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const margin = useOffset(body)
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

  // The row that keys work on is always there, or scrolling would take the focus away.
  const { current } = focus
  const withCurrent = useCallback(
    (range: Range) =>
      [...new Set([...defaultRangeExtractor(range), current])]
        .filter((at) => at < range.count)
        .toSorted((a, b) => a - b),
    [current],
  )
  // Other functions would have all rows measured anew, at every scroll.
  const estimateSize = useCallback(() => (isNarrow ? usual.card : usual.row), [isNarrow])
  const getItemKey = useCallback((index: number) => ids[index] ?? index, [ids])
  const virtual = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize,
    getItemKey,
    // Rendering is a task of its own, and layout and paint are the next one: the two in one blocked the page for 80 ms.
    useFlushSync: false,
    // What a jump renders is in view at once, in the same frame; more rows make that frame later.
    overscan: 3,
    scrollMargin: margin,
    scrollPaddingStart: covered.top,
    scrollPaddingEnd: covered.bottom,
    rangeExtractor: withCurrent,
  })
  useLayoutEffect(() => virtual.measure(), [virtual, isNarrow])
  const lastSeen = virtual.range?.endIndex ?? 0
  useEffect(() => {
    if (hasMore && !isLoadingMore && error === undefined && lastSeen >= rows.length - ahead) loadMore()
  })

  const items = virtual.getVirtualItems()
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

  const events = useSteady<RowEvents>({ select: focus.select, focus: focus.take, menu: openMenu })
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
          // One style for them all. With one in each row Chromium compared each cell with all that it had in earlier scrolls.
          style={{ height: virtual.getTotalSize(), paddingTop: first && first.start - margin }}
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

/** Pixels from the beginning of the document to an element, whatever grows or shrinks above it. */
function useOffset(element: RefObject<HTMLElement | null>): number {
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    const look = () => {
      const top = element.current?.getBoundingClientRect().top ?? 0
      setOffset(Math.round(top + scrollY))
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return offset
}

/** The same object for ever, whose functions do what the latest ones do: rows need not render again for them. */
function useSteady<T extends { readonly [K in keyof T]: (...args: never[]) => void }>(functions: T): T {
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
