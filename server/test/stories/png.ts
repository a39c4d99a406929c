import { crc32, deflateSync } from 'node:zlib'
import { PNG } from 'pngjs'

/** An image of four bytes per pixel: red, green, blue, and an opacity that is ignored. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

export const readPng = (file: Buffer): Pixels => PNG.sync.read(file)

/**
 * Encodes a PNG with a palette: a third of the size of a full one, and the repository keeps hundreds.
 * @param colours at most 256; pixels of other colours get the nearest of these
 */
export function writePng({ width, height, data }: Pixels, colours: number): Buffer {
  const pixels = new Uint32Array(width * height)
  for (let at = 0; at < pixels.length; at++) {
    pixels[at] = (data[4 * at]! << 16) | (data[4 * at + 1]! << 8) | data[4 * at + 2]!
  }
  const { palette, places } = paletteOf(pixels, colours)
  const lines = Buffer.alloc(height * (width + 1))
  for (let at = 0; at < pixels.length; at++) {
    lines[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = places.get(pixels[at]!)!
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // Eight bits each, by palette; compression, filter and interlacing have one method each.
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

/**
 * Selects colours one by one, each time the one whose pixels are furthest from those selected: the most frequent ones
 * alone would be the greys of letters, without the red of a small mark.
 */
function paletteOf(pixels: Uint32Array, max: number): { palette: number[]; places: Map<number, number> } {
  const counts = new Map<number, number>()
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const all = [...counts].map(([colour, count]) => ({ colour, count, place: 0, distance: Infinity }))
  const palette: number[] = []
  let next = all.reduce((a, b) => (b.count > a.count ? b : a))
  while (palette.length < max && next.distance > 0) {
    const place = palette.push(next.colour) - 1
    for (const each of all) {
      const distance = distanceOf(each.colour, next.colour)
      if (distance < each.distance) Object.assign(each, { place, distance })
    }
    next = all.reduce((a, b) => (b.count * b.distance > a.count * a.distance ? b : a))
  }
  return { palette, places: new Map(all.map(({ colour, place }) => [colour, place])) }
}

function distanceOf(one: number, other: number): number {
  const [red, green, blue] = channels(one)
  const [r, g, b] = channels(other)
  return (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
}

/** Source: PNG, third edition, 5.3. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
