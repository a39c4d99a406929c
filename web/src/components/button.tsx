import type { ReactNode, Ref } from 'react'
import { useShortcutKey, type CardKey } from '#/shortcuts/shortcuts.ts'

interface ButtonProps {
  variant?: 'primary' | 'small' | undefined
  /** Presses are ignored. The button keeps the focus, which `disabled` would move to the top of the page. */
  isOff?: boolean
  /** Id of the element that says why it is off. */
  describedBy?: string | undefined
  /** The key that presses it, if any. */
  shortcut?: CardKey
  ref?: Ref<HTMLButtonElement>
  onPress(): void
  children: ReactNode
}

/** A button outside a form. */
export function Button({ variant, isOff = false, describedBy, shortcut, ref, onPress, children }: ButtonProps) {
  return (
    <button
      ref={ref}
      type="button"
      className={variant ? `button ${variant}` : 'button'}
      aria-disabled={isOff}
      aria-describedby={describedBy}
      aria-keyshortcuts={useShortcutKey(shortcut)}
      onClick={() => isOff || onPress()}
    >
      {children}
    </button>
  )
}

interface SubmitButtonProps {
  variant?: 'primary' | 'small'
  /** Looks off, while the form ignores being submitted. The button keeps the focus, which `disabled` would move. */
  isOff?: boolean | undefined
  children: ReactNode
}

/** The button that submits its form. */
export function SubmitButton({ variant = 'primary', isOff, children }: SubmitButtonProps) {
  return (
    <button type="submit" className={`button ${variant}`} aria-disabled={isOff}>
      {children}
    </button>
  )
}
