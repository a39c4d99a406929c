import { useId, useRef, type KeyboardEvent, type ReactNode, type ToggleEvent } from 'react'
import { more } from '#/icons/icons.ts'
import { useShortcutKey, type CardKey } from '#/shortcuts/shortcuts.ts'
import { Icon } from './icon.tsx'
import { itemAfter } from './menu-keys.ts'

/** An entry of a menu. */
export interface MenuAction {
  readonly key: string
  readonly label: ReactNode
  /** What keys that are letters look for. */
  readonly text: string
  /** The key that presses it, also while the menu is closed. */
  readonly shortcut?: CardKey | undefined
  /** Presses are ignored. */
  readonly isOff?: boolean
  /** Id of the element that says why it is off. */
  readonly describedBy?: string | undefined
  run(): void
}

/**
 * A button with further actions in a menu, which is the browser's own popover: it lies above everything, and closes on
 * Escape and on a press outside. The closed menu stays in the document, so that shortcuts find its items. Keys within it
 * are handled here (ARIA Authoring Practices, menu button).
 * @param label name of the button, and of the menu
 */
export function ButtonMenu({ label, actions }: { label: string; actions: readonly MenuAction[] }) {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const picked = useRef<MenuAction>(undefined)

  const opened = useRef<AbortController>(undefined)

  function toggled({ newState }: ToggleEvent<HTMLDivElement>) {
    opened.current?.abort()
    if (newState === 'open') {
      opened.current = new AbortController()
      const position = () => positionMenu(menu.current!, button.current!)
      position()
      addEventListener('resize', position, { signal: opened.current.signal })
      itemsOf(menu.current!)[0]?.focus({ preventScroll: true })
      return
    }
    // A dialog that it opens gives the focus back to the button.
    const action = picked.current
    picked.current = undefined
    if (action) button.current?.focus({ preventScroll: true })
    action?.run()
  }

  function pick(action: MenuAction) {
    if (action.isOff) return
    if (!menu.current?.matches(':popover-open')) return action.run()
    picked.current = action
    menu.current.hidePopover()
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className="icon-button"
        aria-haspopup="menu"
        title={label}
        popoverTarget={id}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          menu.current?.showPopover()
        }}
      >
        <Icon path={more} />
        <span className="visually-hidden">{label}</span>
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        className="menu"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={(event) => moveInMenu(event, actions)}
        onToggle={toggled}
      >
        {actions.map((action) => (
          <Item key={action.key} action={action} onPick={pick} />
        ))}
      </div>
    </>
  )
}

function Item({ action, onPick }: { action: MenuAction; onPick(action: MenuAction): void }) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className="menu-item"
      aria-disabled={action.isOff ?? false}
      aria-describedby={action.isOff ? action.describedBy : undefined}
      aria-keyshortcuts={useShortcutKey(action.shortcut)}
      onClick={() => onPick(action)}
      // The item below the pointer has the focus, so that keys and pointer press the same one.
      onPointerMove={({ currentTarget }) => currentTarget.focus({ preventScroll: true })}
    >
      {action.label}
    </button>
  )
}

/** Moves the focus in an open menu; Tab closes it. Other keys keep their meaning. */
export function moveInMenu(event: KeyboardEvent<HTMLElement>, actions: readonly { readonly text: string }[]): void {
  const items = itemsOf(event.currentTarget)
  if (event.key === 'Tab') event.currentTarget.hidePopover()
  else if (event.ctrlKey || event.metaKey || event.altKey) return
  else {
    const at = items.indexOf(document.activeElement as HTMLElement)
    const to = itemAfter(
      event.key,
      at,
      actions.map(({ text }) => text),
    )
    if (to === undefined) return
    items[to]?.focus()
  }
  event.preventDefault()
  event.stopPropagation()
}

export const itemsOf = (menu: HTMLElement) => [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')]

/** Distance in pixels between a menu and its anchor, and its min distance from the edges of the window. */
const gaps = { anchor: 4, edge: 8 }

/**
 * Positions a menu below its anchor, ends aligned; above it where there is no space below. In coordinates of the
 * document: it scrolls with its row.
 */
export function positionMenu(menu: HTMLElement, anchor: HTMLElement): void {
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
