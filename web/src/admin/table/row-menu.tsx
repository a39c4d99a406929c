import { useImperativeHandle, useLayoutEffect, useRef, useState, type KeyboardEvent, type Ref } from 'react'
import { itemAfter } from './menu-keys.ts'
import { positionMenu } from './position-menu.ts'

/** One thing that can be done to a row. */
export interface RowAction {
  readonly key: string
  readonly label: string
  /** Why it cannot be done; it is shown all the same. */
  readonly obstacle?: string | undefined
  /** It cannot be undone. */
  readonly isGrave?: boolean
  run(): void
}

/** What a menu shows, and where. */
export interface RowMenuContent {
  readonly label: string
  /** What it opens from, and gives the focus back to. */
  readonly anchor: HTMLElement
  readonly actions: readonly RowAction[]
}

export interface RowMenuHandle {
  /** In the place of what was open before. */
  open(content: RowMenuContent): void
}

/**
 * The menu of all rows, one for them all and not one in each. It is opened by its handle: the state is here, so that no row
 * renders again for it.
 */
export function RowMenu({ ref }: { ref: Ref<RowMenuHandle> }) {
  const [content, setContent] = useState<RowMenuContent>()
  useImperativeHandle(ref, () => ({ open: setContent }), [])
  return content && <Menu {...content} onClose={() => setContent(undefined)} />
}

/**
 * The browser's own popover: it lies above all else, and closes on Escape and on a press elsewhere. Keys within it are ours
 * (ARIA Authoring Practices, menu). Base UI's took 350 ms of a cheap phone to open, which is why it is not used here.
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

  /** Only then, with the focus back at the row, so that a dialog that opens gives it back to the row in its turn. */
  function closed() {
    // The browser has given it back to what had it before, or a press elsewhere took it to where it was meant to go.
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
          // What keys and the pointer would press is the same one.
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
