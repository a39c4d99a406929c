import { useRef } from 'react'
import { Menu } from '@base-ui/react/menu'

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

interface RowMenuProps {
  label: string
  /** What it opened from, and gives the focus back to. */
  anchor: HTMLElement
  actions: readonly RowAction[]
  onClose(): void
}

/** What can be done to one row. It opens as soon as it is rendered; one menu for all rows, not one in each. */
export function RowMenu({ label, anchor, actions, onClose }: RowMenuProps) {
  const picked = useRef<RowAction>(undefined)
  const menu = useRef<Menu.Root.Actions>(null)

  /** Only now: the focus is back, so that a dialog that opens gives it back to the row in its turn. */
  function closed(isOpen: boolean) {
    if (isOpen) return muteGuards()
    onClose()
    picked.current?.run()
  }

  return (
    <Menu.Root defaultOpen actionsRef={menu} modal={false} onOpenChangeComplete={closed}>
      {/* Within the landmark that the row is in. */}
      <Menu.Portal container={anchor.closest('main')}>
        <Menu.Positioner anchor={anchor} align="end" sideOffset={4} className="menu-place">
          <Menu.Popup
            className="menu"
            aria-label={label}
            finalFocus={() => anchor}
            onKeyDown={(event) => {
              if (event.key !== 'Tab') return
              event.preventDefault()
              menu.current?.close()
            }}
          >
            {actions.map((action) => (
              <Menu.Item
                key={action.key}
                className={action.isGrave ? 'menu-item grave' : 'menu-item'}
                label={action.label}
                disabled={action.obstacle !== undefined}
                onClick={() => (picked.current = action)}
              >
                {action.label}
                {action.obstacle !== undefined && <span className="menu-obstacle">{action.obstacle}</span>}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

/**
 * Base UI lets the Tab key stop at elements before and after a menu, to close it, and hides them from assistive technology
 * at the same time, which WCAG does not allow (4.1.2). The menu closes itself at that key instead.
 */
function muteGuards(): void {
  for (const guard of document.querySelectorAll<HTMLElement>('[data-base-ui-focus-guard]')) guard.tabIndex = -1
}
