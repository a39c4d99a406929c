import type { Duplex } from 'node:stream'

/** Bytes both ways, until either side is gone. */
export function joinSockets(near: Duplex, far: Duplex): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => {})
    one.once('close', () => other.destroy())
    one.pipe(other)
  }
}
