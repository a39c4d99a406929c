/**
 * Single-flight with a lifetime: callers share one run of `ask`, and its result for `lifetime` ms after it settled.
 * A rejection is shared and kept likewise, so that what fails is not asked more often than what works.
 * @param now ms, monotonic; for tests
 */
export function cachedFor<T>(ttl: number, ask: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let shared: Promise<T> | undefined
  let freshUntil = 0
  return () => {
    if (shared && now() < freshUntil) return shared
    freshUntil = Infinity
    const settled = () => {
      freshUntil = now() + ttl
    }
    shared = ask()
    shared.then(settled, settled)
    return shared
  }
}
