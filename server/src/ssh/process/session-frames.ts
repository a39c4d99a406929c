/**
 * Frames between the SSH process and `berth-tool session` in the container: a byte that says what follows, its length
 * (32 bits), and that many bytes. What the container sends is not trusted: a user's program may have replaced the tool's
 * process.
 */

/** Max bytes of a frame to the container, and of its output (`max_frame` of container-tool/session.c). */
const maxFrame = 64 * 1024
/** Max bytes of a frame of the container that is no output: an exit status, or a sentence. */
const maxWords = 1_024
/** Bytes of input that may be sent ahead of what the container says that its program has taken (`window` there). */
export const inputWindow = 256 * 1024

/** What the tool is to start. */
export interface SessionStart {
  readonly kind: 'shell' | 'exec' | 'sftp'
  /** Type of the terminal; empty: none. */
  readonly terminal: string
  readonly columns: number
  readonly rows: number
  /** Home of the container; empty without one. */
  readonly folder: string
  /** Empty for `shell` and `sftp`. */
  readonly command: string
}

function frame(kind: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(kind, 'latin1')
  head.writeUInt32BE(content.length, 1)
  return Buffer.concat([head, content])
}

/** @returns undefined when it does not fit, or a word has a zero byte, which no program's argument can have */
export function startFrame(start: SessionStart): Buffer | undefined {
  const { kind, terminal, columns, rows, folder, command } = start
  const words = [kind, terminal, String(columns), String(rows), folder, command]
  const content = Buffer.from(words.map((word) => `${word}\0`).join(''))
  return words.some((word) => word.includes('\0')) || content.length > maxFrame ? undefined : frame('S', content)
}

/** Input, in as many frames as it takes. */
export function inputFrames(bytes: Buffer): Buffer {
  if (bytes.length <= maxFrame) return frame('I', bytes)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += maxFrame) parts.push(frame('I', bytes.subarray(at, at + maxFrame)))
  return Buffer.concat(parts)
}

export const endOfInputFrame = (): Buffer => frame('E', Buffer.alloc(0))

/** @param name of a signal without `SIG` */
export const signalFrame = (name: string): Buffer => frame('K', Buffer.from(name, 'latin1'))

export function windowFrame(columns: number, rows: number): Buffer {
  const content = Buffer.alloc(4)
  content.writeUInt16BE(columns, 0)
  content.writeUInt16BE(rows, 2)
  return frame('W', content)
}

/** A size of a terminal that the kernel takes. */
export const terminalSize = (number: number): number => Math.min(Math.max(Math.trunc(number) || 0, 0), 0x7fff)

/** What the container sends. */
export type SessionEvent =
  | { readonly kind: 'output' | 'errors'; readonly bytes: Buffer }
  /** The program has taken so many bytes of its input. */
  | { readonly kind: 'taken'; readonly count: number }
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly name: string }
  | { readonly kind: 'failure'; readonly words: string }

/** The container sends no frames. */
class NoFrames extends Error {
  override readonly name = 'NoFrames'
}

/** Reads frames however they come in pieces; output is passed on as it comes. */
export class FrameReader {
  #head = Buffer.alloc(0)
  #kind = ''
  /** Bytes of the present frame that are still to come. */
  #left = 0
  #words = Buffer.alloc(0)

  /** Reading throws {NoFrames}. */
  read(bytes: Buffer): Generator<SessionEvent> {
    return this.#events(bytes)
  }

  *#events(bytes: Buffer): Generator<SessionEvent> {
    for (let at = 0; at < bytes.length;) {
      if (this.#kind === '') {
        at += this.#readHead(bytes.subarray(at))
        // An empty frame has no bytes to wait for.
        if (this.#kind !== '' && this.#left === 0) yield* this.#take(Buffer.alloc(0))
        continue
      }
      const piece = bytes.subarray(at, at + this.#left)
      at += piece.length
      this.#left -= piece.length
      yield* this.#take(piece)
    }
  }

  #readHead(bytes: Buffer): number {
    const taken = Math.min(bytes.length, 5 - this.#head.length)
    this.#head = Buffer.concat([this.#head, bytes.subarray(0, taken)])
    if (this.#head.length < 5) return taken
    this.#kind = this.#head.toString('latin1', 0, 1)
    this.#left = this.#head.readUInt32BE(1)
    this.#head = Buffer.alloc(0)
    const isOutput = this.#kind === 'O' || this.#kind === 'R'
    // The engine's own words begin with "OCI runtime", which is a frame of a gigabyte.
    if (!isOutput && !['X', 'F', 'T'].includes(this.#kind)) throw new NoFrames()
    if (this.#left > (isOutput ? maxFrame : maxWords)) throw new NoFrames()
    return taken
  }

  *#take(piece: Buffer): Generator<SessionEvent> {
    const kind = this.#kind
    if (this.#left === 0) this.#kind = ''
    if (kind === 'O' || kind === 'R') {
      if (piece.length > 0) yield { kind: kind === 'O' ? 'output' : 'errors', bytes: piece }
      return
    }
    this.#words = Buffer.concat([this.#words, piece])
    if (this.#left > 0) return
    const content = this.#words
    this.#words = Buffer.alloc(0)
    yield eventOf(kind, content)
  }
}

function eventOf(kind: string, content: Buffer): SessionEvent {
  const words = content.toString('latin1')
  if (kind === 'F') return { kind: 'failure', words }
  if (kind === 'X') return endIn(words)
  if (content.length !== 4) throw new NoFrames()
  return { kind: 'taken', count: content.readUInt32BE() }
}

function endIn(words: string): SessionEvent {
  const [, code, signal] = /^(?:code (\d{1,3})|signal ([A-Z0-9]{1,8}))$/.exec(words) ?? []
  if (code !== undefined) return { kind: 'code', code: Number(code) }
  if (signal !== undefined) return { kind: 'signal', name: signal }
  throw new NoFrames()
}
