/** The part of the document that this module uses. */
export type Visible = Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>

/**
 * Runs work while the page is visible: a hidden page shows nothing, and browsers open only six connections to a host.
 * @param work its signal aborts when the page is hidden, or when it is stopped
 * @returns stops it
 */
export function whileVisible(work: (signal: AbortSignal) => void, page: Visible = document): () => void {
  let current: AbortController | undefined

  const stop = () => {
    current?.abort()
    current = undefined
  }
  const update = () => {
    if (page.visibilityState !== 'visible') return stop()
    if (current) return
    current = new AbortController()
    work(current.signal)
  }

  page.addEventListener('visibilitychange', update)
  update()
  return () => {
    page.removeEventListener('visibilitychange', update)
    stop()
  }
}
