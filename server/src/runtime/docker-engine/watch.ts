import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError, type RuntimeEvent } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { labelFilter } from './labels.ts'

interface EngineEvent {
  readonly Action: string
  readonly Actor: { readonly ID: string }
}

/** Pauses between attempts to listen again, in ms. */
const firstPause = 100
const longestPause = 5_000

/** Docker's and Podman's words. The others (`exec_start`, `health_status`, `attach`...) come by the second and change nothing. */
const changes = new Set(
  'create start restart die died stop kill oom pause unpause rename update destroy remove'.split(' '),
)

export function watch(engine: Engine, onEvent: (event: RuntimeEvent) => void, signal: AbortSignal): void {
  void listenForEver(engine, onEvent, signal)
}

/** After an interruption anything may have changed: the listener is told so once it can hear again, before the first new event. */
async function listenForEver(
  engine: Engine,
  onEvent: (event: RuntimeEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let pause = firstPause
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      for await (const id of listen(engine, signal, isFirst)) {
        pause = firstPause
        // Aborted by the listener itself, a moment ago.
        if (signal.aborted) return
        onEvent({ id })
      }
    } catch (error) {
      // An engine that went away is looked for again; other calls report it. A listener that throws is a bug, and loud.
      if (!signal.aborted && !(error instanceof RuntimeError)) throw error
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined)
    pause = Math.min(pause * 2, longestPause)
  }
}

/** Ids of containers that changed; after a reconnect undefined first of all. */
async function* listen(engine: Engine, signal: AbortSignal, isFirst: boolean): AsyncGenerator<string | undefined> {
  const events = await engine.client.follow<EngineEvent>({
    what: 'listen to events',
    method: 'GET',
    path: '/events',
    query: { filters: JSON.stringify({ type: ['container'], label: labelFilter(engine.instance) }) },
    limit: limits.read,
    signal,
  })
  if (!isFirst) yield undefined
  for await (const { Action, Actor } of events) if (changes.has(Action)) yield Actor.ID
}
