import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactTarget } from './access-log.ts'

const token = 'aB3_'.repeat(11).slice(0, 43)
const jwt = `eyJhbGciOiJFUzI1NiJ9.${'eyJzdWIiOiIxIn0'.repeat(3)}.${'x'.repeat(86)}`

test('an ordinary path is written as it is, and ids of kernels and sessions with it', () => {
  for (const path of [
    '/',
    '/api/user/me',
    '/ann-dev/',
    '/ann-dev/api/kernels/0b0e7c0c-6f0e-4c55-9d2b-0d9f9b3a2f11/channels',
    '/a%20b/"x"',
  ])
    assert.equal(redactTarget(path, undefined), path)
})

test('no query is written, whatever its parameters are called and however it is spelled', () => {
  for (const query of [
    `token=${token}`,
    'code=4/0Ab_5qlk',
    `a=1&TOKEN=${token}`,
    token,
    '',
    `x?y=${token}`,
    'state=s&code=c',
    `next=%2Fverify%3Ftoken%3D${token}`,
  ])
    assert.equal(redactTarget(`/verify-login?${query}`, undefined), '/verify-login?[redacted]')
})

test('a token in a path is not written, also behind an encoded question mark or beside parameters of a segment', () => {
  for (const secret of [token, jwt, `berth_${token}`])
    for (const path of [
      `/x/${secret}`,
      `/${secret}`,
      `/x/${secret}/y`,
      `/verify-login%3Ftoken=${secret}`,
      `/verify-login;token=${secret}`,
      `/a,${secret}`,
      `/%2F${secret}`,
      `/x%2f${secret}%2fy`,
    ]) {
      const written = redactTarget(path, 'ann-dev')
      assert.ok(!written.includes(secret.slice(0, 20)), `${path} became ${written}`)
      assert.match(written, /\[redacted\]/)
    }
})

test('the prefix of a container is kept however long its type is called, and a long path is cut', () => {
  const prefix = `ann-${'t'.repeat(60)}`
  assert.equal(redactTarget(`/${prefix}/lab`, prefix), `/${prefix}/lab`)
  assert.equal(redactTarget(`/${prefix}/lab`, undefined), '/[redacted]/lab')
  assert.ok(redactTarget('/short'.repeat(5_000), undefined).length < 600)
})
