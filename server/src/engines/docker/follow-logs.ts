import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { inspectOwn } from './docker-inspect.ts'
import { LogDemultiplexer } from '#/engines/transport/log-demultiplexer.ts'
import { pacedBytes } from '#/engines/transport/paced-bytes.ts'
import { withSignal } from '#/engines/transport/with-signal.ts'

/** Listener of lines; the next line is read when it resolves (backpressure). */
export type OnLine = (line: string) => void | Promise<void>

/**
 * Only of what carries our labels. The engine ends the answer itself when the program ends or the container goes; one
 * that was made and never started has said nothing, and the engine does not wait for its start.
 * Docker 20.10 mostly leaves out what a program wrote last without ending the line; `logs` has it. Of what is written
 * faster than it is read (measured: 32 MB in 7 s, a fifth was missing) it leaves out what its files keep no longer.
 */
export async function followLogs(
  engine: EngineContext,
  id: string,
  lines: number,
  onLine: OnLine,
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await inspectOwn(engine, id, signal)
    if (!found) throw new RuntimeError('missing', `follow the output of ${id}`)
    const reader = new LogDemultiplexer(found.Config.Tty === true)
    const emit = async (lines: readonly string[]) => {
      for (const line of lines) await withSignal(Promise.resolve(onLine(line)), signal)
    }
    const output = pacedBytes(await open(engine, id, lines, signal), signal)
    for await (const bytes of output) await emit(reader.push(bytes))
    await emit(reader.end())
  } catch (error) {
    // After an abort the caller gets no further line and no error.
    if (!signal.aborted) throw error
  }
}

/** As many bytes wait in this process as one connection takes; the engine waits with the others. */
function open(
  { client }: EngineContext,
  id: string,
  lines: number,
  signal: AbortSignal,
): Promise<AsyncGenerator<Buffer>> {
  const [what, path] = [`follow the output of ${id}`, `/containers/${id}/logs`]
  const query = { stdout: 'true', stderr: 'true', follow: 'true', tail: String(Math.max(0, Math.trunc(lines))) }
  return client.stream({ what, method: 'GET', path, query, timeout: callTimeouts.read, kind: 'stream', signal })
}
