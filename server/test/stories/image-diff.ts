import pixelmatch from 'pixelmatch'
import type { Pixels } from './png.ts'

/** Side of a square of pixels that are averaged. */
const square = 2
/** Share of the largest possible difference of colour. */
const threshold = 0.15
/** Max number of squares that differ. */
const tolerated = 12

export interface Difference {
  readonly isSame: boolean
  /** Number of squares that differ. */
  readonly count: number
  /** The picture, pale, with the differences in red. */
  readonly where: Pixels
}

/**
 * Compares two pictures after averaging squares: the edges of letters and rounded corners, which another Chromium may
 * draw slightly differently, even out, while a moved element does not. Measured on two pages: a shift by a third of a
 * pixel makes 3 squares differ, bolder letters none, a button moved by one pixel 94. One changed letter (4 to 25) and a
 * shade of a colour may pass.
 */
export function difference(a: Pixels, b: Pixels): Difference {
  const [one, other] = [coarse(a), coarse(b)]
  const { width, height } = one
  const where = { width, height, data: new Uint8Array(width * height * 4) }
  if (other.width !== width || other.height !== height) return { isSame: false, count: Infinity, where: b }
  const count = pixelmatch(one.data, other.data, where.data, width, height, { threshold, includeAA: true })
  return { isSame: count <= tolerated, count, where }
}

function coarse({ width, height, data }: Pixels): Pixels {
  const [across, down] = [Math.ceil(width / square), Math.ceil(height / square)]
  const sums = new Uint32Array(across * down * 4)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = 4 * (y * width + x)
      const to = 4 * (Math.floor(y / square) * across + Math.floor(x / square))
      sums[to] = sums[to]! + data[from]!
      sums[to + 1] = sums[to + 1]! + data[from + 1]!
      sums[to + 2] = sums[to + 2]! + data[from + 2]!
      sums[to + 3] = sums[to + 3]! + 1
    }
  }
  const means = new Uint8Array(sums.length)
  for (let at = 0; at < sums.length; at += 4) {
    const pixels = sums[at + 3]!
    means[at] = sums[at]! / pixels
    means[at + 1] = sums[at + 1]! / pixels
    means[at + 2] = sums[at + 2]! / pixels
    means[at + 3] = 255
  }
  return { width: across, height: down, data: means }
}
