import { useEffect, useRef, type FocusEvent, type RefObject } from 'react'

interface Focused {
  readonly element: Element
  /** Of its row among all. */
  readonly index: number
}

/**
 * Keeps the focus in a list whose rows change by themselves: when the focused control or its row goes away, the heading of the
 * row takes the focus, or that of the next row. Otherwise who works with keys would be at the top of the document.
 * @param list its children are rows, each with one heading that can take the focus
 * @returns handlers for the list
 */
export function useFocusInRows(list: RefObject<HTMLElement | null>) {
  const last = useRef<Focused>(undefined)

  useEffect(() => {
    const rows = list.current
    if (!rows) return
    const observer = new MutationObserver(() => {
      if (!last.current || !isLost(last.current.element)) return
      const { index } = last.current
      last.current = undefined
      headingNear(rows, index)?.focus()
    })
    observer.observe(rows, { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden'] })
    return () => observer.disconnect()
  }, [list])

  return {
    onFocus: ({ target, currentTarget }: FocusEvent) => {
      last.current = { element: target, index: [...currentTarget.children].findIndex((row) => row.contains(target)) }
    },
    // React tells of no blur of an element that it removes. A dialog that closes blurs before its button takes the focus.
    onBlur: ({ target }: FocusEvent) => {
      if (document.activeElement !== target && target.closest('dialog') === null) last.current = undefined
    },
  }
}

/** Whether the element went away with the focus. The browser notices later that something is hidden. */
const isLost = (element: Element) =>
  !(element.isConnected && element.checkVisibility()) &&
  (document.activeElement === element || document.activeElement === document.body)

function headingNear(rows: Element, index: number): HTMLElement | undefined {
  const isShown = (row: Element | undefined): row is Element => row !== undefined && row.checkVisibility()
  const all = [...rows.children]
  const near = isShown(all[index])
    ? all[index]
    : (all.slice(index).find(isShown) ?? all.slice(0, index).findLast(isShown))
  return near?.querySelector('h2') ?? undefined
}
