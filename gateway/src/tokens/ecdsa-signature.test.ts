import assert from 'node:assert/strict'
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { test } from 'node:test'
import { derSignature } from './signature-checks.ts'

test('a converted signature is valid for its text and no other', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  // One signature in 128 has a number that begins with a zero byte.
  for (let i = 0; i < 600; i++) {
    const text = Buffer.from(`text ${i}`)
    const signature = derSignature(sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' }))
    assert.ok(verify('sha256', text, publicKey, signature))
    if (i < 20) assert.ok(!verify('sha256', Buffer.from('another'), publicKey, signature))
  }
})

test('numbers of a signature are the shortest that are not negative', () => {
  const bytes = Buffer.alloc(64)
  assert.deepEqual([...derSignature(bytes)], [0x30, 6, 2, 1, 0, 2, 1, 0])
  bytes[31] = 0x7f
  bytes[63] = 0x80
  assert.deepEqual([...derSignature(bytes)], [0x30, 7, 2, 1, 0x7f, 2, 2, 0, 0x80])
  bytes.fill(0xff)
  assert.equal(derSignature(bytes).length, 2 + 2 * (2 + 33))
})
