import { write, writeSync } from 'node:fs'

/** What waits to be written at most, in bytes; what comes on top is lost, and told. */
const maxBuffered = 1_048_576
/** Written in one go at most, in bytes. */
const maxWriteSize = 65_536
/** Until the next attempt, in ms: when the reader is slow, and when the disk is full or fails. */
const [soon, later] = [100, 1_000]

/**
 * Where log lines go, without ever being waited for: a disk that is full, or a reader that stands still, must not keep
 * anybody from being served, let alone end us. Lines come out whole and in order, or not at all.
 */
export class LogDestination {
  readonly #fd: number
  #waiting: Buffer[] = []
  #bytes = 0
  #isWriting = false
  #lost = 0

  constructor(fd: number) {
    this.#fd = fd
  }

  /** @param line ends with a line break */
  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#bytes + bytes.length > maxBuffered) {
      this.#lost++
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
      // Nobody is there to be told.
    }
  }

  #add(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
  }

  #take(): Buffer {
    let [count, length] = [0, 0]
    for (const { length: more } of this.#waiting) {
      if (count > 0 && length + more > maxWriteSize) break
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
      return
    }
    setTimeout(() => this.#write(bytes), code === 'EAGAIN' ? soon : later).unref()
  }

  /** In the form of the log's own lines. */
  #reportLost(): void {
    if (this.#lost === 0) return
    const msg = `${this.#lost} lines of the log were lost: they could not be written as fast as they came`
    this.#lost = 0
    this.#add(Buffer.from(`${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, msg })}\n`))
  }
}
