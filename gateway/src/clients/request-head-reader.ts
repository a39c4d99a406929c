import { giveBackBuffer, takeBuffer } from '#/basics/read-buffer.ts'
import { isFault, type HttpFault } from '#/http1/header-lines.ts'
import { maxRequestHead, readRequestHead, type RequestHead } from '#/http1/request-head.ts'
import { headText } from '#/http1/response-head.ts'

const nothing = Buffer.alloc(0)
/** Heads up to this length are remembered for the next request of their connection, in characters. */
export const maxRememberedHead = 4_096
/** In bytes. */
const minHeadMemory = 2 * 1024
const endOfHead = '\r\n\r\n'

/** Request head reader of one connection: collects bytes until a head is complete, parses it, and keeps what follows it. */
export class RequestHeadReader {
  /** Bytes received that belong to no request yet. */
  stash: Buffer | undefined
  /** Of an unfinished head, which is the stash; with room for more, so that its bytes are not copied anew for each piece. */
  #memory: Buffer | undefined
  /** The head read last: equal lines are not parsed again. */
  #before: RequestHead | undefined

  /**
   * Reads the head at the beginning of `bytes`, of which `length` are valid; the bytes behind it become the stash.
   * @returns undefined while the head is incomplete, or longer than `maxRequestHead`
   */
  read(bytes: Buffer, length: number): RequestHead | HttpFault | undefined {
    const text = headText(bytes, 0, Math.min(length, maxRequestHead + 4))
    const end = text.indexOf(endOfHead)
    if (end === -1 || end > maxRequestHead) return undefined
    // A part of the text would keep all of it in memory: a body, or the next requests.
    const own = end + 4 === text.length ? text : bytes.toString('latin1', 0, end + 4)
    const head = readRequestHead(own, this.#before)
    if (isFault(head)) return head
    this.stash = end + 4 === length ? undefined : Buffer.from(bytes.subarray(end + 4, length))
    // Thousands of idle connections must not retain long heads.
    this.#before = head.text.length <= maxRememberedHead ? head : undefined
    return head
  }

  /** Forgets the head that was read last. */
  forget(): void {
    this.#before = undefined
  }

  /** The stash is part of a head; the connection counts its bytes among those of unfinished heads. */
  get isUnfinished(): boolean {
    return this.#memory !== undefined
  }

  /** Bytes of memory that an unfinished head takes. */
  get unfinishedSize(): number {
    return this.#memory?.length ?? 0
  }

  /** The stash and these bytes; the stash stays as it is. */
  append(bytes: Buffer): Buffer {
    const before = this.stash ?? nothing
    if (!this.#memory) return Buffer.concat([before, bytes])
    const length = before.length + bytes.length
    if (length > this.#memory.length) this.#grow(this.#memory, before, length)
    bytes.copy(this.#memory, before.length)
    return this.#memory.subarray(0, length)
  }

  /**
   * Searches the new bytes alone for the end of a head, so that a head in a thousand pieces is not parsed a thousand times.
   * Pipelined requests have not been searched yet.
   * @param added bytes at the end of `all` that are new
   */
  mayBeWhole(all: Buffer, added: number): boolean {
    const searched = this.isUnfinished ? Math.max(0, all.length - added - 3) : 0
    return all.includes(endOfHead, searched, 'latin1')
  }

  /** Keeps an incomplete head. @param bytes its first ones, which are copied, or all of it, as `append` returned it */
  keepPart(bytes: Buffer, length: number): void {
    this.#memory ??= copied(bytes, length, length)
    this.stash = this.#memory.subarray(0, length)
  }

  /** There is no unfinished head any more; the stash is none of its bytes. */
  finish(): void {
    if (this.#memory) giveBackBuffer(this.#memory)
    this.#memory = undefined
  }

  #grow(memory: Buffer, before: Buffer, needed: number): void {
    this.#memory = copied(before, before.length, needed)
    this.stash = this.#memory.subarray(0, before.length)
    giveBackBuffer(memory)
  }
}

/** Memory for a head of `needed` bytes, and as many more as it may still get, that begins with these bytes. */
function copied(bytes: Buffer, length: number, needed: number): Buffer {
  const memory = takeBuffer(sizeFor(needed))
  bytes.copy(memory, 0, 0, length)
  return memory
}

/** The next power of two from twice as much on, so that the pool has it. */
function sizeFor(needed: number): number {
  const twice = Math.max(minHeadMemory, 2 ** Math.ceil(Math.log2(2 * needed)))
  return Math.max(needed, Math.min(twice, maxRequestHead))
}
