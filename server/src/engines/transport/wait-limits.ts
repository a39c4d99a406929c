/**
 * Reads what comes bit by bit, with a limit for the wait between two parts. A reader that is slow itself uses none of
 * it.
 * @param open begins to read; its signal aborts at a stall, too
 * @param limit in ms
 * @param stalled makes the reason of that abort
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

/**
 * Sends what comes bit by bit, with a limit for the wait of a receiver that takes nothing more, and for its answer
 * behind the last part. A source that is slow itself uses none of it.
 * @param send sends; its signal aborts at a stall, too
 * @param limit in ms
 * @param stalled makes the reason of that abort
 * @throws the reason · whatever the source or sending throws
 */
export async function withSendLimit<R>(
  source: AsyncIterable<Uint8Array>,
  { signal, limit, stalled }: { signal: AbortSignal; limit: number; stalled: () => Error },
  send: (sent: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<R>,
): Promise<R> {
  const stall = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const begin = () => (timer = setTimeout(() => stall.abort(stalled()), limit))
  const sent = async function* () {
    clearTimeout(timer)
    for await (const part of source) {
      begin()
      yield part
      clearTimeout(timer)
    }
    begin()
  }
  begin()
  try {
    return await send(sent(), AbortSignal.any([signal, stall.signal]))
  } finally {
    clearTimeout(timer)
  }
}
