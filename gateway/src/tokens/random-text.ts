import { randomFillSync } from 'node:crypto'

/** Random bytes for many texts: to ask for 16 of them costs 4 us of each request, and for 2 KB hardly more. */
const pool = Buffer.alloc(2 * 1024)
let used = pool.length

/**
 * Random text of so many bytes, by the system's generator for cryptography; no two calls have a byte in common. For values that
 * are made at each request, such as nonces. The bytes stay in memory for a while, so secrets that last are made without it.
 * @param bytes at most 2,048
 */
export function randomText(bytes: number, encoding: 'base64' | 'base64url'): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString(encoding, used - bytes, used)
}
