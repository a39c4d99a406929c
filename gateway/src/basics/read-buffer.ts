/** Initial size in bytes. Common messages fit; a read that fills it switches to the large buffer. */
const small = 2 * 1024
/** What a connection keeps after a longer request: its next one may have as long a head. */
const between = 4 * 1024
/** Bytes for the rest of a head that did not come in one piece. */
export const mediumBuffer = 16 * 1024
/** Reads in a row that would have fitted into the small one, after which the large one is given back. */
const fewBytes = 16

/** What has become of the bytes of a read. */
export interface BytesUse {
  /** Some of them are still on their way out, from this memory: the next read must not go over them. */
  readonly isHeld: boolean
  /** What was wanted of them is copied, none was written from this memory: another connection may have it. */
  readonly isCopied?: boolean
  /**
   * They end a request: thousands of idle connections must not hold what a long one took. Later than with this read it
   * cannot be given back, because the socket keeps the memory of its next read.
   */
  readonly isComplete?: boolean
  /** They are mostly framing: the next read is smaller, so that it takes less of a turn of the event loop. */
  readonly isFraming?: boolean
}

/**
 * Read buffer of one connection, which is reused. A new buffer for each read, which is Node's way, costs a
 * gateway with 10,000 routes half its time on uploads: memory outside of the heap makes V8 collect all of the heap.
 */
export class ReadBuffer {
  readonly #large: number
  #memory: Buffer = takeBuffer(small)
  #smallReads = 0

  /** @param large bytes of the memory for those who send much */
  constructor(large: number) {
    this.#large = large
  }

  /** Where the next read goes. */
  get memory(): Buffer {
    return this.#memory
  }

  /**
   * Instead of `settle`, while a head is unfinished: thousands that never end must not hold the large one.
   * @param isCopied as for `settle`
   */
  settleForHead(isCopied: boolean): void {
    this.#smallReads = 0
    if (this.#memory.length !== mediumBuffer) this.#replace(mediumBuffer, isCopied)
  }

  /**
   * Called after each read.
   * @param length bytes that were read
   * @param use what has become of these bytes
   */
  settle(length: number, { isHeld, isCopied = false, isComplete = false, isFraming = false }: BytesUse): void {
    this.#smallReads = length < small ? this.#smallReads + 1 : 0
    const size = this.#memory.length
    const next = this.#smallReads > fewBytes ? small : this.#usualSize(length, isComplete, isFraming)
    if (isHeld || next !== size) this.#replace(next, isCopied && !isHeld)
  }

  #usualSize(length: number, isComplete: boolean, isFraming: boolean): number {
    const size = this.#memory.length
    if (isComplete) return Math.min(size, between)
    const max = isFraming ? Math.min(this.#large, mediumBuffer) : this.#large
    return length === size ? max : Math.min(size, max)
  }

  #replace(size: number, isFree: boolean): void {
    const before = this.#memory
    this.#memory = takeBuffer(size)
    if (isFree) giveBackBuffer(before)
  }
}

/** Sizes in bytes of the buffers that are kept. */
const sizes: readonly number[] = [2, 4, 8, 16, 32].map((kilobytes) => kilobytes * 1024)
/** Buffers of each size that are kept: 1 MB of all sizes together. */
const maxFree = 16

const free = new Map<number, Buffer[]>(sizes.map((size) => [size, []]))

/**
 * Buffer pool (free list) of all connections of this process. Memory outside of the heap makes V8 collect all of the heap after some 30 MB of
 * it, in use or not: with 60 KB for each request with a head of 31 KB that was every 500 requests, and a quarter of the gateway's
 * CPU time.
 * @returns a buffer of that size whose content is undefined
 */
export function takeBuffer(size: number): Buffer {
  return free.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
}

/**
 * A read buffer is given back while Node calls back with what it read: right after that Node asks for the next one. It would not after an
 * exception in that call, which ends the process; a process that went on would have two clients in one buffer.
 * @param buffer from `takeBuffer`, which nothing reads or writes any more: the next one to take it may serve another client
 */
export function giveBackBuffer(buffer: Buffer): void {
  const sameSize = free.get(buffer.length)
  if (sameSize && sameSize.length < maxFree && buffer.buffer.byteLength === buffer.length) sameSize.push(buffer)
}
