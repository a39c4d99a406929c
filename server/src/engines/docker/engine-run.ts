import { setImmediate as turn } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts, type EngineClient } from './engine-client.ts'
import { helperLabel } from './labels.ts'

/** One run of the engine, from a start of its program to a stop. */
export interface EngineRun {
  /**
   * What this engine has done with a volume since the run was noted, it has done with the mounted volume. Docker that is being
   * stopped unmounts the volumes of containers that do not run, and answers what is under way as if it were complete: an
   * archive ends in order without what was not read yet (seen with 20.10), and what is written goes elsewhere.
   * @throws {RuntimeError} `unreachable`: the engine stops, or has been started again since
   */
  requireMounted(what: string, volume: string): Promise<void>
  /** Ends the connection. */
  leave(): void
}

/**
 * Notes which run of the engine answers, by a connection that ends with it. The connection alone does not tell that the engine
 * is being stopped: it lasts until the program exits. A question about the volume alone does not either: where the service
 * manager holds the socket (systemd), a question waits there for the next start and is answered by that. The engine closes its
 * list of volumes before it unmounts any, so a volume that it still knows on the same run was mounted until then.
 * @param installation the engine is asked for events of its helpers, which are few @throws {RuntimeError}
 */
export async function noteEngineRun(client: EngineClient, installation: string): Promise<EngineRun> {
  const left = new AbortController()
  const events = await client.stream({
    what: 'listen for the end of the engine',
    method: 'GET',
    path: '/events',
    query: { filters: JSON.stringify({ type: ['container'], label: [`${helperLabel}=${installation}`] }) },
    timeout: callTimeouts.read,
    kind: 'stream',
    signal: left.signal,
  })
  const run = { isOver: false }
  void follow(events, run)
  return {
    requireMounted: async (what, volume) => {
      const call = { what: `look whether ${volume} is mounted`, method: 'GET', path: `/volumes/${volume}` } as const
      const stopped = (cause?: unknown) =>
        new RuntimeError('unreachable', `${what}: the engine was stopped meanwhile`, cause)
      await client.ask({ ...call, timeout: callTimeouts.read }).catch((error: unknown) => {
        throw stopped(error)
      })
      // An end that has come together with the answer is noted in this turn.
      await turn()
      if (run.isOver) throw stopped()
    },
    leave: () => left.abort(),
  }
}

/** The events themselves do not matter. Never rejects. */
async function follow(events: AsyncIterable<unknown>, run: { isOver: boolean }): Promise<void> {
  try {
    for await (const event of events) void event
  } catch {
    // Broken off, or left.
  }
  run.isOver = true
}
