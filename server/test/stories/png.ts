import { crc32, deflateSync } from 'node:zlib'
import { PNG } from 'pngjs'

/** An image of four bytes a pixel: red, green, blue, and an opacity that is not looked at. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

export const readPng = (file: Buffer): Pixels => PNG.sync.read(file)

/**
 * A PNG with a palette: a third of what a full one takes, and the repository keeps hundreds. Of more than 256 colours
 * the most frequent ones stay, and the others, which are the edges of letters, become the nearest of these.
 */
export function writePng({ width, height, data }: Pixels): Buffer {
  const counts = new Map<number, number>()
  const colours = new Uint32Array(width * height)
  for (let at = 0; at < colours.length; at++) {
    const colour = (data[4 * at]! << 16) | (data[4 * at + 1]! << 8) | data[4 * at + 2]!
    colours[at] = colour
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const byCount = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || a - b)
  const palette = byCount.slice(0, 256)
  const places = new Map(byCount.map((colour, at) => [colour, at < 256 ? at : nearest(palette, colour)]))
  const lines = Buffer.alloc(height * (width + 1))
  for (let at = 0; at < colours.length; at++) {
    lines[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = places.get(colours[at]!)!
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // Eight bits each, by palette; compression, filter and interlacing are the only ones there are.
  head.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap(channels))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const channels = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const

function nearest(palette: readonly number[], colour: number): number {
  const [red, green, blue] = channels(colour)
  let [best, least] = [0, Infinity]
  for (const [at, other] of palette.entries()) {
    const [r, g, b] = channels(other)
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
    if (distance < least) [best, least] = [at, distance]
  }
  return best
}

/** Source: PNG, third edition, 5.3. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
