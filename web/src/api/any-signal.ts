/**
 * As `AbortSignal.any`, which Safari before 17.4 and Chrome before 116 do not have: every request failed there, and the
 * page said that there is no connection.
 */
export function anySignal(...signals: AbortSignal[]): AbortSignal {
  if ('any' in AbortSignal) return AbortSignal.any(signals)
  const either = new AbortController()
  for (const each of signals) {
    const abort = () => either.abort(each.reason)
    if (each.aborted) abort()
    each.addEventListener('abort', abort)
  }
  return either.signal
}
