/** Resolves after `ms`, or when the signal aborts; soon, when it has aborted already. */
export const abortableDelay = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, signal.aborted ? 0 : ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
