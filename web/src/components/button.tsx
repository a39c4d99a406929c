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

/**
 * The text of a button or link whose name says more than what it shows, because others beside it show the same: screen
 * readers and voice control get "Remove the token laptop" for "Remove".
 */
export function ShortLabel({ text, name }: { text: ReactNode; name: string }) {
  return (
    <>
      <span aria-hidden>{text}</span>
      <span className="visually-hidden">{name}</span>
    </>
  )
}
