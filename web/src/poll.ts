/** The document, as far as polling needs it. */
export type Visible = Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>
/** The window, as far as polling needs it. */
export type Focusable = Pick<Window, 'addEventListener' | 'removeEventListener'>

export interface Poll {
  /** Looks now; a look under way is given up, because it may have begun before a change. */
  refresh(): void
  /** Gives a look under way up and never looks again. */
  stop(): void
}

/**
 * Calls `look` now, on focus, and `pause` milliseconds after each look has ended, while the page is visible.
 * A hidden page asks nothing. At most one look is under way. `look` must deal with its own errors.
 */
export function startPolling(
  look: (signal: AbortSignal) => Promise<void>,
  pause: number,
  page: Visible = document,
  view: Focusable = window,
): Poll {
  let timer: ReturnType<typeof setTimeout> | undefined
  let current: AbortController | undefined

  const quiet = () => {
    clearTimeout(timer)
    current?.abort()
    current = undefined
  }
  const refresh = () => {
    quiet()
    if (page.visibilityState !== 'visible') return
    const mine = (current = new AbortController())
    void look(mine.signal).finally(() => {
      if (current !== mine) return
      current = undefined
      timer = setTimeout(refresh, pause)
    })
  }
  // Coming back to a tab fires both events; the second must not start over what the first began.
  const wake = () => {
    if (page.visibilityState !== 'visible') quiet()
    else if (current === undefined) refresh()
  }

  page.addEventListener('visibilitychange', wake)
  view.addEventListener('focus', wake)
  refresh()
  return {
    refresh,
    stop() {
      page.removeEventListener('visibilitychange', wake)
      view.removeEventListener('focus', wake)
      quiet()
    },
  }
}
