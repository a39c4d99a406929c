import { useEffect, useEffectEvent, useState, type RefObject } from 'react'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { useEvents } from '#/events/use-events.ts'
import { delayBeforeOpening } from '#/launch/auto-open.ts'

export interface AutoOpenParts {
  /** Where focus may move from one part of the launch (`data-launching`) to another without turning away. */
  readonly within: RefObject<HTMLElement | null>
  readonly stage: LaunchEvent['stage'] | undefined
  /** When the server said that the program runs, by `performance.now()`; undefined before that. */
  readonly answeredAt: number | undefined
  /** Nothing is under way that could make it ready: it failed, or was stopped. */
  readonly isOver: boolean
  /** The page is there for nothing else: opened is asked for from the beginning, and hiding it is no turning away. */
  readonly isWholePage?: boolean
  open(): void
}

export interface AutoOpen {
  /** It opens by itself. */
  readonly isAsked: boolean
  ask(): void
  /** Not any more. */
  stay(): void
}

/**
 * Opens a container in this tab as soon as its app answers, when that was asked for here and the person has not turned
 * away since: to another tab, or with the focus to something else. A page that changes under somebody's hands is worse
 * than one more press (WCAG 2.2, 3.2.5).
 */
export function useAutoOpen(parts: AutoOpenParts): AutoOpen {
  const { within, stage, answeredAt, isOver, isWholePage = false, open } = parts
  const [isAsked, setAsked] = useState(isWholePage)
  // What is launched later, perhaps by another page, is not what was asked for here.
  if (isAsked && isOver) setAsked(false)
  const { isLive } = useEvents()
  const openNow = useEffectEvent(() => {
    setAsked(false)
    open()
  })

  useEffect(() => {
    if (!isAsked) return
    const answeredFor = answeredAt === undefined ? undefined : performance.now() - answeredAt
    const wait = delayBeforeOpening({ stage, answeredFor, isLive })
    if (wait === undefined) return
    const timer = setTimeout(openNow, wait)
    return () => clearTimeout(timer)
  }, [isAsked, stage, answeredAt, isLive])

  useEffect(() => {
    if (!isAsked) return
    const turning = new AbortController()
    const { signal } = turning
    const onHidden = () => document.visibilityState === 'hidden' && !isWholePage && setAsked(false)
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof Element) || !target.matches(controls)) return
      const isPart =
        target === within.current || (target.closest('[data-launching]') && within.current?.contains(target))
      if (!isPart) setAsked(false)
    }
    document.addEventListener('visibilitychange', onHidden, { signal })
    document.addEventListener('focusin', onFocus, { signal })
    return () => turning.abort()
  }, [isAsked, within, isWholePage])

  return { isAsked, ask: () => setAsked(true), stay: () => setAsked(false) }
}

/** What people move the focus to; not the headings that a page puts it on by itself. */
const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"], article'
