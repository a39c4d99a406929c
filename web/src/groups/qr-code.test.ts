import assert from 'node:assert/strict'
import { test } from 'node:test'
import encodeQR from 'qr'
import decodeQR from 'qr/decode.js'
import { pathOf } from './qr-path.ts'

test('the path of a code draws each dark module, and the code leads to the link', () => {
  const link = 'https://spawner.example.org/groups?code=K7QWE-3MXPA'
  const rows = encodeQR(link, 'raw', { ecc: 'medium', border: 4 })
  const drawn = new Set([...pathOf(rows).matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`))
  const scale = 4
  const size = rows.length * scale
  const data = new Uint8Array(size * size * 4)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const isDark = drawn.has(`${Math.floor(x / scale)} ${Math.floor(y / scale)}`)
      data.set([isDark ? 0 : 255, isDark ? 0 : 255, isDark ? 0 : 255, 255], (y * size + x) * 4)
    }
  assert.equal(decodeQR({ width: size, height: size, data }), link)
})
