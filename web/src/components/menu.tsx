import { useImperativeHandle, useLayoutEffect, useRef, useState, type KeyboardEvent, type Ref } from 'react'
import { itemAfter } from './menu-keys.ts'

/** An entry of a row's menu. */
export interface RowAction {
  readonly key: string
  readonly label: string
  /** Why it is not possible; it is shown all the same. */
  readonly obstacle?: string | undefined
  /** It cannot be undone. */
  readonly isGrave?: boolean
  run(): void
}

/** The content of a menu, and its anchor. */
interface RowMenuContent {
  readonly label: string
  /** The element that the menu opens from, and that gets the focus back. */
  readonly anchor: HTMLElement
  readonly actions: readonly RowAction[]
}

export interface RowMenuHandle {
  /** Replaces the content of an open menu. */
  open(content: RowMenuContent): void
}

/** One menu for all rows. It is opened by its handle: its state is here, so that no row renders again for it. */
export function RowMenu({ ref }: { ref: Ref<RowMenuHandle> }) {
  const [content, setContent] = useState<RowMenuContent>()
  useImperativeHandle(ref, () => ({ open: setContent }), [])
  return content && <Menu {...content} onClose={() => setContent(undefined)} />
}

/**
 * The browser's own popover: it lies above everything, and closes on Escape and on a press outside. Keys within it are
 * handled here (ARIA Authoring Practices, menu). Base UI's menu took 350 ms to open on a cheap phone.
 */
function Menu({ label, anchor, actions, onClose }: RowMenuContent & { onClose(): void }) {
  const menu = useRef<HTMLDivElement>(null)
  const picked = useRef<RowAction>(undefined)

  useLayoutEffect(() => {
    const element = menu.current!
    const position = () => positionMenu(element, anchor)
    if (!element.matches(':popover-open')) element.showPopover()
    position()
    itemsOf(element)[0]?.focus({ preventScroll: true })
    addEventListener('resize', position)
    return () => removeEventListener('resize', position)
  }, [anchor])

  /**
   * Only after the menu has closed and the focus is back at the row, so that a dialog gives it back to the row, too.
   */
  function closed() {
    // The browser has restored the focus, or a press outside has moved it.
    const hasMoved = document.activeElement !== document.body && !menu.current?.contains(document.activeElement)
    if (!hasMoved || picked.current) anchor.focus({ preventScroll: true })
    onClose()
    picked.current?.run()
  }

  function pick(action: RowAction) {
    if (action.obstacle !== undefined) return
    picked.current = action
    menu.current?.hidePopover()
  }

  function onKeyDown(event: KeyboardEvent<HTMLDivElement>) {
    const items = itemsOf(event.currentTarget)
    const labels = actions.map((action) => action.label)
    const at = items.indexOf(document.activeElement as HTMLElement)
    if (event.key === 'Tab') event.currentTarget.hidePopover()
    else if (event.ctrlKey || event.metaKey || event.altKey) return
    else {
      const to = itemAfter(event.key, at, labels)
      if (to === undefined) return
      items[to]?.focus()
    }
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div
      ref={menu}
      popover="auto"
      role="menu"
      className="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onToggle={(event) => event.newState === 'closed' && closed()}
    >
      {actions.map((action) => (
        <button
          key={action.key}
          type="button"
          role="menuitem"
          tabIndex={-1}
          className={action.isGrave ? 'menu-item danger' : 'menu-item'}
          aria-disabled={action.obstacle !== undefined}
          onClick={() => pick(action)}
          // The item below the pointer has the focus, so that keys and pointer press the same one.
          onPointerMove={({ currentTarget }) => currentTarget.focus({ preventScroll: true })}
        >
          {action.label}
          {action.obstacle !== undefined && <span className="menu-obstacle">{action.obstacle}</span>}
        </button>
      ))}
    </div>
  )
}

const itemsOf = (menu: HTMLElement) => [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')]

/** Distance in pixels between a menu and its anchor, and its min distance from the edges of the window. */
const gaps = { anchor: 4, edge: 8 }

/**
 * Positions a menu below its anchor, ends aligned; above it where there is no space below. In coordinates of the
 * document: it scrolls with its row.
 */
function positionMenu(menu: HTMLElement, anchor: HTMLElement): void {
  // Its earlier position may be outside a window that has become smaller, and would widen the page.
  menu.style.left = '0'
  const from = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const below = from.bottom + gaps.anchor
  const above = from.top - gaps.anchor - height
  const lowest = document.documentElement.clientHeight - gaps.edge - height
  const top = below <= lowest ? below : above >= gaps.edge ? above : Math.max(gaps.edge, lowest)
  const isLeftToRight = getComputedStyle(anchor).direction === 'ltr'
  const rightmost = document.documentElement.clientWidth - gaps.edge - width
  const left = Math.max(gaps.edge, Math.min(isLeftToRight ? from.right - width : from.left, rightmost))
  menu.style.top = `${Math.round(top + scrollY)}px`
  menu.style.left = `${Math.round(left + scrollX)}px`
}
