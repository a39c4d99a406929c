import { RuntimeError } from '#/engines/runtime-error.ts'
import { LogDemultiplexer, pacedBytes } from '#/engines/transport/log-stream.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { inspectOwn } from './container-lookup.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'

/** How many bytes of the engine's answer are taken. */
const maxBytes = 64 * 1024

/**
 * How long before the start that the engine notes its program may have written already, in ms: it notes the start when
 * the program runs, up to some 100 ms later.
 */
const startMargin = 300

const none = Buffer.alloc(0)

/**
 * Only of what carries our labels, and of its last start: what earlier ones wrote would be taken for the reason of its
 * end.
 */
export async function readLogs(engine: EngineContext, id: string, lines: number): Promise<string[]> {
  const found = await inspectOwn(engine, id)
  if (!found || found.State.Status === 'created' || lines < 1) return []
  const startedAt = Date.parse(found.State.StartedAt ?? '')
  const since = startedAt > 0 ? (startedAt - startMargin) / 1_000 : 0
  const written = await readLast(engine, id, Math.trunc(lines), since)
  const reader = new LogDemultiplexer(found.Config.Tty === true)
  return [...reader.push(written), ...reader.end()].slice(-lines)
}

/**
 * The engine sends the oldest first, so breaking off would lose just those lines that say how it ended. Instead fewer
 * are asked for until all fit. At least one fits: to the engine a line has at most 16 KiB, it cuts longer ones.
 */
async function readLast({ client }: EngineContext, id: string, lines: number, since: number): Promise<Buffer> {
  const [what, path] = [`read the output of ${id}`, `/containers/${id}/logs`]
  const end = performance.now() + callTimeouts.read
  for (let tail = lines; tail >= 1; tail = Math.trunc(tail / 2)) {
    const query = { stdout: 'true', stderr: 'true', tail: String(tail), since: since.toFixed(3) }
    const timeout = Math.max(1, end - performance.now())
    const bytes = await client.download({ what, method: 'GET', path, query, timeout }, maxBytes).catch(noneIfGone)
    if (bytes) return bytes
  }
  return none
}

function noneIfGone(error: unknown): Buffer {
  if (error instanceof RuntimeError && error.kind === 'missing') return none
  throw error
}

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

/** No more bytes wait in this process than one connection takes; the engine waits with the others. */
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
