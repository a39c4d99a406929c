import type { ReactNode } from 'react'

interface ButtonProps {
  look?: 'primary' | 'small'
  /** Presses are ignored. The button keeps the focus, which `disabled` would throw back to the top of the page. */
  isOff?: boolean
  onPress(): void
  children: ReactNode
}

/** A button that does something by itself, outside a form. */
export function Button({ look, isOff = false, onPress, children }: ButtonProps) {
  return (
    <button
      type="button"
      className={look ? `button ${look}` : 'button'}
      aria-disabled={isOff}
      onClick={() => isOff || onPress()}
    >
      {children}
    </button>
  )
}
