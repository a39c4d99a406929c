import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { rowAfter } from './table-keys.ts'
import { withRange, withRows, type Selection } from '../bulk/selection.ts'
import { focusHeading } from '#/router/router.ts'

interface RowFocusParts {
  readonly grid: RefObject<HTMLTableElement | null>
  readonly ids: readonly number[]
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
  /** Renders a row and scrolls it into view. */
  readonly show: (index: number) => void
  readonly onMenu: (index: number, anchor: HTMLElement) => void
}

/** The row that has the keyboard focus. */
interface RowFocus {
  readonly current: number
  /** The focus moved to this row; a range selection begins here. */
  take(index: number): void
  /** Selects a row, or a range from the last selected one. */
  select(index: number, isOn: boolean, isRange: boolean): void
  onKeyDown(event: KeyboardEvent): void
}

const rowAt = (grid: HTMLTableElement | null, index: number) =>
  grid?.querySelector<HTMLElement>(`tr[data-index="${index}"]`) ?? undefined

/** Keyboard navigation of the table with a roving tabindex. Source: ARIA Authoring Practices, grid. */
export function useRowFocus({ grid, ids, selection, onSelect, show, onMenu }: RowFocusParts): RowFocus {
  const [current, setCurrent] = useState(0)
  const anchor = useRef(0)
  const wanted = useRef<number>(undefined)

  // A row that was scrolled away is in the document only after the next render or the one after.
  useEffect(() => {
    if (wanted.current === undefined) return
    const row = rowAt(grid.current, wanted.current)
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
  })

  function select(index: number, isOn: boolean, isRange: boolean) {
    const id = ids[index]
    if (id === undefined) return
    if (isRange) onSelect(withRange(selection, ids, { anchor: anchor.current, from: anchor.current, to: index }))
    else onSelect(withRows(selection, [id], isOn))
    if (!isRange) anchor.current = index
  }

  function move(to: number, isRange: boolean) {
    if (isRange) onSelect(withRange(selection, ids, { anchor: anchor.current, from: current, to }))
    else anchor.current = to
    wanted.current = to
    setCurrent(to)
    show(to)
  }

  function toggle(index: number) {
    const id = ids[index]
    const isOn = id !== undefined && (selection.kind === 'all' ? selection.except.has(id) : !selection.ids.has(id))
    select(index, isOn, false)
  }

  function openMenu(index: number) {
    const button = rowAt(grid.current, index)?.querySelector<HTMLElement>('.menu-button')
    if (button) onMenu(index, button)
  }

  function onKeyDown(event: KeyboardEvent) {
    const target = event.target as HTMLElement
    if (!target.closest('tbody')) return
    const isMenu = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)
    const to = event.ctrlKey || event.metaKey || event.altKey ? undefined : rowAfter(event.key, current, ids.length)
    // Controls within a row handle Space and Enter themselves.
    const isRow = target.matches('tr')
    if (to !== undefined) move(to, event.shiftKey)
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) onSelect(withRows(selection, ids, true))
    else if (isRow && event.key === ' ') toggle(current)
    else if (isMenu || (isRow && event.key === 'Enter')) openMenu(current)
    else return
    event.preventDefault()
  }

  return { current: Math.min(current, Math.max(0, ids.length - 1)), take: setCurrent, select, onKeyDown }
}

/**
 * Moves the focus to the current row when the focused element is gone; to the beginning of the page where there are no
 * rows.
 */
export function focusRows(): void {
  // After React has removed the pressed element.
  setTimeout(() => {
    if (document.activeElement !== document.body) return
    const row = document.querySelector<HTMLElement>('[role="grid"] tbody [tabindex="0"]')
    if (row) row.focus({ preventScroll: true })
    else focusHeading({ preventScroll: true })
  })
}
