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
