/**
 * Reads what comes bit by bit, with a limit for the wait between two parts. A reader that is slow itself uses none of it.
 * @param open begins to read; its signal aborts at a stall, too
 * @param limit in ms @param stalled makes the reason of that abort
 * @throws the reason · whatever reading throws
 */
export async function* withStallLimit<T>(
  open: (signal: AbortSignal) => Promise<AsyncIterable<T>>,
  { signal, limit, stalled }: { signal: AbortSignal; limit: number; stalled: () => Error },
): AsyncGenerator<T> {
  const stall = new AbortController()
  const begin = () => setTimeout(() => stall.abort(stalled()), limit)
  let timer = begin()
  try {
    for await (const part of await open(AbortSignal.any([signal, stall.signal]))) {
      clearTimeout(timer)
      yield part
      timer = begin()
    }
  } finally {
    clearTimeout(timer)
  }
}
