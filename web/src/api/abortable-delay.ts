/**
 * Resolves after `ms`, or when the signal aborts; soon, when it has aborted already. Leaves nothing on the signal, which
 * may last as long as the page.
 */
export const abortableDelay = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal.aborted ? 0 : ms)
    signal.addEventListener('abort', end)
  })
