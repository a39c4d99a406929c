import type { MouseEvent, ReactNode } from 'react'
import { navigate } from '#/router/router.ts'

interface LinkProps {
  to: string
  /** State for the history entry of the target page; lost in a new tab. */
  state?: unknown
  className?: string
  /** The link leads to the current page. */
  isCurrent?: boolean
  children: ReactNode
}

/**
 * A link to another page of the front end: no document is loaded, and modified clicks open tabs and windows as usual.
 */
export function Link({ to, state, className, isCurrent = false, children }: LinkProps) {
  function follow(event: MouseEvent) {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to, state)
  }
  return (
    <a href={to} className={className} aria-current={isCurrent ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  )
}
