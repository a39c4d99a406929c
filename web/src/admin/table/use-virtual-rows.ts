import { defaultRangeExtractor, useWindowVirtualizer, type Range } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useState, useSyncExternalStore, type RefObject } from 'react'
import type { Rows } from '#/admin/list/use-rows.ts'
import type { Listed } from './columns.ts'

/** Estimated height of a row in pixels, until it is measured. */
const estimatedHeight = { row: 49, card: 142 }
/** Pixels at the top and bottom of the window that the table head and the selection bar cover. */
const covered = { top: 48, bottom: 152 }
/** The next page is requested this many rows before the last loaded one. */
const ahead = 40

interface VirtualRowsParts {
  /** The table body that holds the rows. */
  readonly body: RefObject<HTMLElement | null>
  /** Ids of all loaded rows, in order. */
  readonly ids: readonly number[]
  readonly list: Rows<Listed>
  /** Index of the row that has the keyboard focus. It stays in the document wherever the page scrolls to. */
  readonly current: number
}

/**
 * Virtual scrolling: which rows are in the document, and where. Loads the next page before the last row is in view.
 * @returns the rows to render, and `margin`: the pixels from the top of the document to the table body
 */
export function useVirtualRows({ body, ids, list, current }: VirtualRowsParts) {
  const { rows, hasMore, isLoadingMore, error, loadMore } = list
  const isNarrow = useNarrow()
  const margin = useOffset(body)
  const withCurrent = useCallback(
    (range: Range) =>
      [...new Set([...defaultRangeExtractor(range), current])]
        .filter((at) => at < range.count)
        .toSorted((a, b) => a - b),
    [current],
  )
  // New functions would make the virtualizer measure all rows again at every scroll.
  const estimateSize = useCallback(() => (isNarrow ? estimatedHeight.card : estimatedHeight.row), [isNarrow])
  const getItemKey = useCallback((index: number) => ids[index] ?? index, [ids])
  const virtual = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize,
    getItemKey,
    // Renders in a task of its own, layout and paint in the next: both in one blocked the page for 80 ms.
    useFlushSync: false,
    // After a jump these rows are rendered in the same frame; more rows delay that frame.
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
  // Values and not the virtualizer: it changes in place, and the React compiler would keep what it read from it once.
  return {
    items: virtual.getVirtualItems(),
    totalSize: virtual.getTotalSize(),
    margin,
    scrollToIndex: (index: number) => virtual.scrollToIndex(index),
    measureElement: virtual.measureElement,
  }
}

/** Pixels from the beginning of the document to an element, whatever grows or shrinks above it. */
function useOffset(element: RefObject<HTMLElement | null>): number {
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const top = element.current?.getBoundingClientRect().top ?? 0
      setOffset(Math.round(top + scrollY))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return offset
}

/** The width below which rows are cards; the same as in table.css. */
const narrow = matchMedia('(max-width: 54rem)')

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** Whether rows are cards. */
const useNarrow = () => useSyncExternalStore(subscribe, () => narrow.matches)
