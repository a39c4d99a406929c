import { useImperativeHandle, useLayoutEffect, useRef, useState, type Ref } from 'react'
import { itemsOf, moveInMenu, positionMenu } from './button-menu.tsx'

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

  return (
    <div
      ref={menu}
      popover="auto"
      role="menu"
      className="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={(event) =>
        moveInMenu(
          event,
          actions.map((action) => ({ text: action.label })),
        )
      }
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
