/**
 * Cache of one value with a TTL, and single-flight: callers share one run of `ask`, and its result for `ttl` ms after
 * it settled. A rejection is shared and kept likewise, so that a failing dependency is not asked more often than a
 * working one.
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
