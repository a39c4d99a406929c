import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { SignInAttempt } from '#/accounts/oidc/provider-settings.ts'
import { Seal } from '#/machine/seal.ts'
import { AttemptCookies, LoginCsrf } from './sign-in-cookies.ts'

const settings = { domain: 'berth.example', isSecure: false }
const loginCsrf = new LoginCsrf(createSecretKey(randomBytes(32)), settings)
const attemptOf = (state: string): SignInAttempt => ({
  provider: 'main',
  state,
  nonce: 'nonce',
  codeVerifier: 'verifier',
  next: '/',
})

function scene() {
  const seal = new Seal(randomBytes(32))
  let opened = 0
  const open: Seal['open'] = (...sealed) => {
    opened++
    return seal.open(...sealed)
  }
  const close: Seal['close'] = (...text) => seal.close(...text)
  return { attempts: new AttemptCookies({ seal: { open, close }, settings, loginCsrf }), opened: () => opened }
}

/** 232 such cookies in one header of 16 KB cost 12 ms of CPU for each request, and 205 lines came back. */
test('of hundreds of cookies that are named like attempts, none is decrypted and the last few are forgotten', () => {
  const { attempts, opened } = scene()
  const cookies = Array.from(
    { length: 232 },
    (_, at) => `spawner_oidc_${at.toString(16).padStart(16, '0')}=${'x'.repeat(38)}`,
  )
  const cookie = [`spawner_visit=${'v'.repeat(22)}`, ...cookies].join('; ')
  const lines = attempts.keep(attemptOf('new'), { cookie }, new Date())
  assert.equal(opened(), 0)
  assert.ok(lines.length <= 16, `${lines.length} lines`)
})

test('only names of cookies count as attempts, not what other names and values end with', () => {
  const { attempts } = scene()
  const names = Array.from({ length: 6 }, (_, at) => `spawner_oidc_${at.toString(16).padStart(16, '0')}`)
  const others = names.flatMap((name) => [`x=${name}=1`, `x${name}=1`, `${name}0=1`, `${name.slice(0, -1)}g=1`])
  const cookie = [...names.map((name) => `${name}=1`), ...others].join('; ')
  const lines = attempts.keep(attemptOf('new'), { cookie }, new Date())
  const forgotten = lines.flatMap((line) => /^(spawner_oidc_[^=]*)=;/.exec(line)?.[1] ?? [])
  assert.deepEqual(forgotten, names.slice(0, 2))
})

test('a browser keeps its five newest attempts', () => {
  const { attempts } = scene()
  const jar = new Map([['spawner_visit', 'v'.repeat(22)]])
  const headers = () => ({ cookie: [...jar].map((pair) => pair.join('=')).join('; ') })
  const at = (index: number) => new Date(1_000 * index)
  for (let index = 0; index < 8; index++)
    for (const line of attempts.keep(attemptOf(`state ${index}`), headers(), at(index))) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
  const kept = Array.from({ length: 8 }, (_, index) => attempts.find(`state ${index}`, 'main', headers(), at(9)))
  assert.deepEqual(
    kept.flatMap((attempt) => attempt?.state ?? []),
    [3, 4, 5, 6, 7].map((index) => `state ${index}`),
  )
})
