import { write, writeSync } from 'node:fs'

/** Max buffered bytes; further lines are dropped, and their number is logged. */
const maxBuffered = 1_048_576
/** Max bytes of one write: to a file, and to a pipe that other processes write to (PIPE_BUF, below which a write is one piece). */
const [maxWriteSize, maxSharedWriteSize] = [65_536, 4_096]
/** Delay of the next attempt, in ms: when the reader is slow, and when the disk is full or fails. */
const [soon, later] = [100, 1_000]

export interface LogDestinationOptions {
  /** Whether other processes write to the same pipe; they do, unless it is said. */
  readonly isShared?: boolean
  /** Whether the number of dropped lines is written as a line; it is, unless it is said. */
  readonly reportsLost?: boolean
}

/**
 * Log destination that never blocks: a full disk, or a reader that does not read, must neither delay requests nor end
 * the process. Lines are written whole and in order, or dropped. Our own, because sonic-boom blocks on a full disk
 * (decision 042).
 */
export class LogDestination {
  readonly #fd: number
  readonly #options: LogDestinationOptions
  #waiting: Buffer[] = []
  #bytes = 0
  #isWriting = false
  #lost = 0
  #onIdle: (() => void) | undefined

  /** Lines that were dropped since the start. */
  dropped = 0

  constructor(fd: number, options: LogDestinationOptions = {}) {
    this.#fd = fd
    this.#options = options
  }

  /** @param line ends with a line break */
  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#bytes + bytes.length > maxBuffered) {
      this.#lost++
      this.dropped++
      return
    }
    this.#add(bytes)
    if (!this.#isWriting) this.#writeNext()
  }

  /** Before the process ends: writes what waits, as far as that goes at once. Never throws. */
  flushSync(): void {
    try {
      for (let next = this.#take(); next.length > 0; next = this.#take()) {
        for (let done = 0; done < next.length;) done += writeSync(this.#fd, next, done)
      }
    } catch {
      // There is nowhere to report it.
    }
  }

  /** No further line comes. Calls back when what waits was written, or could not be written at once. */
  end(done: () => void): void {
    if (this.#isWriting) this.#onIdle = done
    else {
      this.flushSync()
      done()
    }
  }

  #add(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
  }

  #take(): Buffer {
    let [count, length] = [0, 0]
    const max = this.#options.isShared === false ? maxWriteSize : maxSharedWriteSize
    for (const { length: more } of this.#waiting) {
      if (count > 0 && length + more > max) break
      count++
      length += more
    }
    this.#bytes -= length
    return Buffer.concat(this.#waiting.splice(0, count))
  }

  #writeNext(): void {
    const next = this.#take()
    this.#isWriting = next.length > 0
    if (this.#isWriting) this.#write(next)
    else this.#onIdle?.()
  }

  #write(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (error) return this.#wait(bytes, error.code)
      if (written < bytes.length) return this.#write(bytes.subarray(written))
      if (this.#bytes === 0) this.#reportLost()
      this.#writeNext()
    })
  }

  /** A reader that is gone does not come back. */
  #wait(bytes: Buffer, code: string | undefined): void {
    if (code === 'EPIPE') {
      this.#waiting = []
      this.#bytes = 0
      this.#isWriting = false
      this.#onIdle?.()
      return
    }
    setTimeout(() => this.#write(bytes), code === 'EAGAIN' ? soon : later).unref()
  }

  /** In the form of the log's own lines. */
  #reportLost(): void {
    if (this.#lost === 0 || this.#options.reportsLost === false) return
    const msg = `${this.#lost} lines of the log were lost: they could not be written as fast as they came`
    this.#lost = 0
    this.#add(Buffer.from(`${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, msg })}\n`))
  }
}

/** How much a line matters, in the numbers of the API process's log. */
const levels = { info: 30, warn: 40, error: 50 }

/**
 * A line for the operator on stderr, in the form of the log's own lines: the gateway process has no logger, which would
 * cost it 20 MB, and its log has to work while there is no API process. At a terminal, the words alone.
 */
export function logLine(level: keyof typeof levels, msg: string): void {
  const line = process.stderr.isTTY
    ? msg
    : JSON.stringify({ level: levels[level], time: Date.now(), pid: process.pid, msg })
  process.stderr.write(`${line}\n`)
}
