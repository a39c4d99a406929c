import { setTimeout as sleep } from 'node:timers/promises'
import type { RuntimeEvent } from '#/runtime/runtime.ts'
import type { Engine } from './engine.ts'
import { labelFilter } from './labels.ts'

/** Pauses between attempts to listen again, in ms. */
const firstPause = 200
const longestPause = 5_000

/**
 * Listens until the signal aborts. After an interruption everything may have changed, so the listener is told to look
 * at everything again, before the first new event.
 */
export function watch(engine: Engine, onEvent: (event: RuntimeEvent) => void, signal: AbortSignal): void {
  void listenForEver(engine, onEvent, signal)
}

async function listenForEver(
  engine: Engine,
  onEvent: (event: RuntimeEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let pause = firstPause
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const events = await engine.docker.getEvents({
        filters: { type: ['container'], label: labelFilter(engine.instance) },
        abortSignal: signal,
      })
      if (!isFirst) onEvent({ id: undefined })
      pause = firstPause
      await forEachLine(events, signal, (line) => onEvent({ id: idIn(line) }))
    } catch {
      // An engine that went away: it is looked for again below, and other calls report it.
    }
    onEvent({ id: undefined })
    await sleep(pause, undefined, { signal }).catch(() => undefined)
    pause = Math.min(pause * 2, longestPause)
  }
}

/** The engine sends one JSON document a line; a line may come in pieces. */
async function forEachLine(
  stream: NodeJS.ReadableStream,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<void> {
  const end = () => (stream as unknown as { destroy(): void }).destroy()
  signal.addEventListener('abort', end, { once: true })
  let rest = ''
  try {
    for await (const chunk of stream) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      lines.filter((line) => line !== '').forEach(onLine)
    }
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** An event we cannot read is a reason to look at everything. */
function idIn(line: string): string | undefined {
  try {
    return (JSON.parse(line) as { id?: string }).id
  } catch {
    return undefined
  }
}
