import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineClient } from './engine-client.ts'

/** Between the end of one ping and the next, in ms. */
const pingInterval = 1_000

/**
 * Long call with a health check: aborts it as soon as the engine does not answer a ping meanwhile, so that a
 * long limit does not hide an unreachable engine behind a slow one.
 * @param ask must end when its signal aborts, with the signal's reason
 * @throws what `ask` throws; {RuntimeError} `unreachable` when a ping is not answered; the reason of the caller's signal
 */
export async function withHealthCheck<T>(
  client: Pick<EngineClient, 'ping'>,
  ask: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const [unreachable, done] = [new AbortController(), new AbortController()]
  void watch(client, unreachable, done.signal)
  try {
    return await ask(signal ? AbortSignal.any([unreachable.signal, signal]) : unreachable.signal)
  } finally {
    done.abort()
  }
}

/** Never rejects. */
async function watch(
  client: Pick<EngineClient, 'ping'>,
  unreachable: AbortController,
  done: AbortSignal,
): Promise<void> {
  while (!done.aborted) {
    try {
      await client.ping()
    } catch (error) {
      return unreachable.abort(error)
    }
    await sleep(pingInterval, undefined, { signal: done, ref: false }).catch(() => undefined)
  }
}
