import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { inspectOwn } from './docker-inspect.ts'
import { LogDemultiplexer } from '#/engines/transport/log-demultiplexer.ts'

/** How many bytes of the engine's answer are taken. */
const maxBytes = 64 * 1024

/**
 * How long before the start that the engine notes its program may have written already, in ms: it notes the start when the
 * program runs, up to some 100 ms later.
 */
const startMargin = 300

const none = Buffer.alloc(0)

/** Only of what carries our labels, and of its last start: what earlier ones wrote would be taken for the reason of its end. */
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
