import { useEffect, useEffectEvent, useRef, useState, type RefObject } from 'react'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { renderDelay } from '#/events/event-store.ts'
import { eventStore, useEvents } from '#/events/use-events.ts'
import { delayBeforeOpening, isReadyEvent } from './open-container.ts'

interface AutoOpenParts {
  readonly type: string
  /** The focus may move within this element (`data-launching`) without cancelling. */
  readonly within: RefObject<HTMLElement | null>
  readonly stage: LaunchEvent['stage'] | undefined
  /** When the server reported that the program runs, by `performance.now()`; undefined before that. */
  readonly answeredAt: number | undefined
  /** The launch has failed or was stopped. */
  readonly isOver: boolean
  /** Whether it is known what to open. */
  readonly canOpen?: boolean
  /** The page exists only for the launch: it opens automatically from the beginning, also after the page was hidden. */
  readonly isWholePage?: boolean
  open(): void
}

interface AutoOpen {
  /** Whether the container opens automatically. */
  readonly isAsked: boolean
  ask(): void
  /** Cancels the automatic opening. */
  stay(): void
}

/**
 * Opens a container in this tab as soon as its app answers, if the user asked for it here and has neither changed to
 * another tab nor moved the focus elsewhere since: an unexpected change of context is worse than one more press (WCAG
 * 2.2, 3.2.5).
 */
export function useAutoOpen(parts: AutoOpenParts): AutoOpen {
  const { type, within, stage, answeredAt, isOver, canOpen = true, isWholePage = false, open } = parts
  const [isAsked, setAsked] = useState(isWholePage)
  // A later launch, perhaps from another page, was not requested here.
  if (isAsked && isOver) setAsked(false)
  const { isLive } = useEvents()
  const isOpened = useRef(false)
  const openNow = useEffectEvent(() => {
    if (isOpened.current) return
    isOpened.current = true
    open()
    // Rendered later, so that a page that leaves does not render it: that would delay its navigation.
    setTimeout(() => setAsked((isOpened.current = false)), renderDelay)
  })

  useEffect(() => {
    if (!isAsked) return
    const answeredFor = answeredAt === undefined ? undefined : performance.now() - answeredAt
    const wait = delayBeforeOpening({ stage, answeredFor, isLive })
    if (wait === undefined) return
    const timer = setTimeout(openNow, wait)
    return () => clearTimeout(timer)
  }, [isAsked, stage, answeredAt, isLive])

  // The container opens before the page renders the event: rendering takes as long as the app's first answer.
  useEffect(() => {
    if (!isAsked || !canOpen) return
    return eventStore.onEvents((events) => events.some((event) => isReadyEvent(event, type)) && openNow())
  }, [isAsked, canOpen, type])

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

/** Controls that users move the focus to; without headings, which pages focus themselves. */
const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"], article'
