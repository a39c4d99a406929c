/**
 * Waits for work that is shared with others, so that giving up does not end it for them.
 * @throws the signal's reason when it comes first
 */
export async function withSignal<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const givenUp = Promise.withResolvers<never>()
  const giveUp = () => givenUp.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    return await Promise.race([work, givenUp.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
