import type { ReactNode } from 'react'

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
