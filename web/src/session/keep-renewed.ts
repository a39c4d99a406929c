import type { RefreshOutcome } from '#/api/session-refresh.ts'

/** Between two checks, in ms. Timers stand still while the machine sleeps; the clock does not. */
const checkInterval = 30_000
/** After a failure, in ms. */
const retryInterval = 60_000

/** Parts of a browser's page. */
export interface PageParts {
  readonly window: Pick<Window, 'addEventListener' | 'removeEventListener'>
  readonly document: Pick<Document, 'addEventListener' | 'removeEventListener' | 'visibilityState'>
  readonly now: () => number
}

/**
 * Renews the session before its token expires, while the user uses this page: at input, when the page becomes visible
 * or gets the focus, and by a timer if there was input since the last time. A page that is only open does not renew, so
 * that an unused session ends as the settings say. Only differences of this machine's clock count: it may be wrong.
 * @param lifetime of the current token in seconds
 * @returns ends it
 */
export function keepRenewed(
  lifetime: number,
  refresh: () => Promise<RefreshOutcome>,
  { window, document, now }: PageParts,
): () => void {
  let dueAt = now() + lifetime * 500
  let [isUsed, isRefreshing] = [false, false]
  const renewIfDue = async () => {
    if (isRefreshing || now() < dueAt) return
    isRefreshing = true
    const { lifetime: next } = await refresh()
    isRefreshing = false
    dueAt = now() + (next === undefined ? retryInterval : next * 500)
    isUsed = false
  }
  const onInput = () => {
    isUsed = true
    void renewIfDue()
  }
  const onVisible = () => document.visibilityState === 'visible' && onInput()
  const timer = setInterval(() => isUsed && document.visibilityState === 'visible' && renewIfDue(), checkInterval)
  for (const type of inputs) window.addEventListener(type, onInput, { passive: true, capture: true })
  window.addEventListener('focus', onInput)
  document.addEventListener('visibilitychange', onVisible)
  return () => {
    clearInterval(timer)
    for (const type of inputs) window.removeEventListener(type, onInput, { capture: true })
    window.removeEventListener('focus', onInput)
    document.removeEventListener('visibilitychange', onVisible)
  }
}

const inputs = ['pointerdown', 'keydown'] as const
