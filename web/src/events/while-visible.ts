/** The document, as far as it is needed here. */
export type Visible = Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>

/**
 * Does something while the page is visible: a hidden one shows nobody anything, and what it keeps open others wait for
 * (browsers open six connections to a host). @param work its signal aborts when the page is hidden, or at the stop
 * @returns what stops it
 */
export function whileVisible(work: (signal: AbortSignal) => void, page: Visible = document): () => void {
  let current: AbortController | undefined

  const stop = () => {
    current?.abort()
    current = undefined
  }
  const look = () => {
    if (page.visibilityState !== 'visible') return stop()
    if (current) return
    current = new AbortController()
    work(current.signal)
  }

  page.addEventListener('visibilitychange', look)
  look()
  return () => {
    page.removeEventListener('visibilitychange', look)
    stop()
  }
}
