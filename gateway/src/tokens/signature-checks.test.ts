import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { parseToken, SignatureChecks, tokenKeyId } from './signature-checks.ts'
import { candidateTokens } from './token-selection.ts'
import { cookieValues } from './cookie-values.ts'

const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
const signed = (alg = 'ES256', key: typeof privateKey | Uint8Array = privateKey) =>
  new SignJWT({ sub: '1', jti: 'x' }).setProtectedHeader({ alg, kid: 'k' }).sign(key)
const good = await signed()
const forgery = () => `${good.slice(0, good.lastIndexOf('.'))}.${randomBytes(64).toString('base64url')}`

test('a token is read without a look at its signature, and what is no token of our kind is not read', async () => {
  assert.deepEqual(parseToken(good), { kid: 'k', claims: { sub: '1', jti: 'x' } })
  const shared = await signed('HS256', new TextEncoder().encode(JSON.stringify(await exportJWK(publicKey))))
  const unsigned = `${Buffer.from('{"alg":"none","kid":"k"}').toString('base64url')}.e30.`
  for (const token of ['', 'a.b.c', 'eyJ.e30.x', shared, unsigned, `${good}.x`, `${good}x`, 'eyJ'.repeat(2_000)])
    assert.equal(parseToken(token), undefined, token.slice(0, 60))
  assert.equal(tokenKeyId(`${Buffer.from('{"alg":"ES256","kid":"k","crit":["x"]}').toString('base64url')}.`), undefined)
})

test('what was read of one token is not taken for that of another, however many are read in turns', () => {
  const claims = (id: number) => Buffer.from(JSON.stringify({ jti: `made-${id}` })).toString('base64url')
  const [header, , signature] = good.split('.')
  const tokens = Array.from({ length: 20 }, (_, id) => `${header}.${claims(id)}.${signature}`)
  for (const round of [tokens, tokens.toReversed(), tokens.slice(0, 3), tokens.slice(0, 3), tokens])
    for (const token of round) assert.equal(parseToken(token)?.claims['jti'], `made-${tokens.indexOf(token)}`)
})

test('a bad signature is checked once and remembered, however many come after it', () => {
  const checks = new SignatureChecks()
  assert.ok(checks.isSigned(good, publicKey, '192.0.2.1'))
  const bad = forgery()
  assert.ok(!checks.isSigned(bad, publicKey, '192.0.2.1'))
  assert.ok(checks.isRejected(bad) && !checks.isRejected(good))
  checks.clear()
  assert.ok(!checks.isRejected(bad))
})

test('a client that sends forgeries is checked one signature per request from then on; others are not', () => {
  const checks = new SignatureChecks()
  assert.equal(checks.allowed('2001:db8::1', 8), 8)
  for (let count = 0; count < 40; count++) checks.isSigned(forgery(), publicKey, '2001:db8::1')
  assert.equal(checks.allowed('2001:db8::2', 8), 1, 'its other addresses are the same client')
  assert.equal(checks.allowed('2001:db8::1', 1), 1, 'one is always checked')
  assert.equal(checks.allowed('192.0.2.1', 8), 8)
  for (let count = 0; count < 40; count++) checks.isSigned(good, publicKey, '192.0.2.1')
  assert.equal(checks.allowed('192.0.2.1', 8), 8, 'good ones cost nothing')
})

test('of thousands of cookies of one name the last are looked at, where browsers put those of the path /', () => {
  const header = `${'spawner_token=junk; '.repeat(1_500)}xspawner_token=a; spawner_token = b ;spawner_token=; c=spawner_token=d`
  const values = cookieValues(header, 'spawner_token')
  assert.equal(values.length, 16)
  assert.equal(values.at(-1), 'b')
  assert.deepEqual([...cookieValues('spawner_token=a', 'spawner_token'), ...cookieValues('', 'x')], ['a'])
  let looked = 0
  const isPlausible = () => ++looked > 0
  const cookies = Array.from({ length: 1_000 }, (_, at) => `spawner_token=${at}`).join('; ')
  assert.deepEqual(candidateTokens(cookies, { isRemembered: () => false, isPlausible }).at(-1), '999')
  assert.equal(looked, 8)
})
