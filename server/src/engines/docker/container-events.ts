import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { labelFilter } from './labels.ts'

interface EngineEvent {
  readonly Action: string
  readonly Actor: { readonly ID: string }
}

/**
 * Pauses between attempts to listen again, in ms. No longer than between two pings: until events are heard, nothing is
 * served.
 */
const initialRetryDelay = 100
const maxRetryDelay = 1_000

/**
 * Docker's and Podman's words. What is missing (`exec_start`, `health_status`, `attach`...) comes by the second and
 * changes nothing.
 */
const actions = new Map<string, RuntimeEvent['action']>([
  ['start', 'start'],
  ['die', 'die'],
  ['died', 'die'],
  ['pause', 'pause'],
  ['unpause', 'unpause'],
  ['destroy', 'destroy'],
  ['remove', 'destroy'],
  ['oom', 'oom'],
  ...['create', 'restart', 'stop', 'kill', 'rename', 'update'].map((word) => [word, 'other'] as const),
])

/**
 * What Docker 20.10 says when A is stopped and B started at once (tried over and over, also with a paused A and with
 * `kill`):
 *
 *     0 ms  `die` of A                    22 ms after the signal; a list says `running` with A's address until 50 ms
 *    50 ms  A's address is released       an inspect that was asked since `die` waits, and is right: exited, no address
 *    65 ms  B gets the address            `start` of B follows 300 ms later
 *
 * So dropping an address at `die` is some 50 ms early, and reading the state after an event has to inspect: a list
 * asked at that moment may be older than the event.
 */
export function watchEvents(engine: EngineContext, onEvent: (event: RuntimeEvent) => void, signal: AbortSignal): void {
  const notice = (event: RuntimeEvent) => {
    engine.oomNotices.onEvent(event)
    onEvent(event)
  }
  void listenWithRetry(engine, notice, signal)
}

/**
 * After an interruption anything may have changed: the listener gets `lost` at once, and an event once it can
 * hear, before the first new event.
 */
async function listenWithRetry(
  engine: EngineContext,
  onEvent: (event: RuntimeEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let retryDelay = initialRetryDelay
  for (let isBlind = false; !signal.aborted;) {
    try {
      for await (const event of listen(engine, signal, isBlind)) {
        retryDelay = initialRetryDelay
        isBlind = false
        // Aborted by the listener itself, a moment ago.
        if (signal.aborted) return
        onEvent(event)
      }
    } catch (error) {
      // An engine that went away is looked for again; other calls report it. A listener that throws is a bug, and loud.
      if (!signal.aborted && !(error instanceof RuntimeError)) throw error
    }
    if (signal.aborted) return
    if (!isBlind) onEvent({ id: undefined, action: 'lost' })
    isBlind = true
    await sleep(retryDelay, undefined, { signal }).catch(() => undefined)
    retryDelay = Math.min(retryDelay * 2, maxRetryDelay)
  }
}

/** What changed; for a listener that was blind "anything" first of all. */
async function* listen(engine: EngineContext, signal: AbortSignal, isBlind: boolean): AsyncGenerator<RuntimeEvent> {
  const events = await engine.client.follow<EngineEvent>({
    what: 'listen to events',
    method: 'GET',
    path: '/events',
    query: { filters: JSON.stringify({ type: ['container'], label: labelFilter(engine.installation) }) },
    timeout: callTimeouts.read,
    kind: 'health',
    signal,
  })
  if (isBlind) yield { id: undefined, action: 'other' }
  for await (const { Action, Actor } of events) {
    const action = actions.get(Action)
    if (action) yield { id: Actor.ID, action }
  }
}
