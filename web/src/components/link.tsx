import type { MouseEvent, ReactNode } from 'react'
import { navigate } from '#/router/router.ts'

interface LinkProps {
  to: string
  /** What the page there finds in its history entry; lost in a new tab. */
  state?: unknown
  className?: string
  /** It leads to where one is. */
  isCurrent?: boolean
  children: ReactNode
}

/** A link to another page of the front end: no document is loaded, and new tabs and windows work as everywhere. */
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
