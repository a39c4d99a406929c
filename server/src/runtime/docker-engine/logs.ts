import { stripVTControlCharacters } from 'node:util'
import { RuntimeError } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { lookAtOwn } from './inspect.ts'

/** How many bytes of the engine's answer are taken, and characters of a line. */
const mostBytes = 64 * 1024
const mostCharacters = 500

/** Of each frame the engine says in 8 bytes which stream it is of (1), nothing (3), and how long it is (4). */
const headerLength = 8

const none = Buffer.alloc(0)

/** Only of what carries our labels. */
export async function logs(engine: Engine, id: string, lines: number): Promise<string[]> {
  const found = await lookAtOwn(engine, id)
  if (!found || found.State.Status === 'created' || lines < 1) return []
  const written = await readLast(engine, id, Math.trunc(lines))
  const frames = found.Config.Tty ? [{ stream: 1, bytes: written }] : framesIn(written)
  return linesOf(frames).slice(-lines).map(plain)
}

/**
 * The engine sends the oldest first, so breaking off would lose just those lines that say how it ended. Instead fewer
 * are asked for until all fit. At least one fits: to the engine a line has at most 16 KiB, it cuts longer ones.
 */
async function readLast({ client }: Engine, id: string, lines: number): Promise<Buffer> {
  const [what, path] = [`read the output of ${id}`, `/containers/${id}/logs`]
  const end = performance.now() + limits.read
  for (let tail = lines; tail >= 1; tail = Math.trunc(tail / 2)) {
    const query = { stdout: 'true', stderr: 'true', tail: String(tail) }
    const limit = Math.max(1, end - performance.now())
    const bytes = await client.download({ what, method: 'GET', path, query, limit }, mostBytes).catch(noneIfGone)
    if (bytes) return bytes
  }
  return none
}

function noneIfGone(error: unknown): Buffer {
  if (error instanceof RuntimeError && error.kind === 'missing') return none
  throw error
}

interface Frame {
  /** 1 is stdout, 2 is stderr. */
  readonly stream: number
  readonly bytes: Buffer
}

/** A last frame that broke off is taken as far as it goes. */
function framesIn(written: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + headerLength <= written.length;) {
    const begin = at + headerLength
    const end = begin + written.readUInt32BE(at + 4)
    frames.push({ stream: written.readUInt8(at), bytes: written.subarray(begin, end) })
    at = end
  }
  return frames
}

/** In the order of their ends. A long line comes in several frames, between which may be lines of the other stream. */
function linesOf(frames: readonly Frame[]): string[] {
  const open = new Map<number, Buffer[]>()
  const lines: string[] = []
  for (const { stream, bytes } of frames) {
    let begin = 0
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', begin)) {
      lines.push(Buffer.concat([...(open.get(stream) ?? []), bytes.subarray(begin, end)]).toString())
      open.delete(stream)
      begin = end + 1
    }
    if (begin < bytes.length) open.set(stream, [...(open.get(stream) ?? []), bytes.subarray(begin)])
  }
  return [...lines, ...[...open.values()].map((rest) => Buffer.concat(rest).toString())]
}

/** Colours go as a whole: without their escape character they would be rubbish in the middle of words. */
function plain(line: string): string {
  const text = stripVTControlCharacters(line).replaceAll(/[^\P{Cc}\t]/gu, '')
  return [...text].slice(0, mostCharacters).join('')
}
