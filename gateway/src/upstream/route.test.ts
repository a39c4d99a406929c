import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { clock } from '#/basics/clock.ts'
import { ScopedTokenCache } from './route.ts'
import { TokenVerifier, UserCache } from '#/tokens/token-verifier.ts'
import { settingsOf } from '@berth/server/test/support/gateway/gateway-harness.ts'
import { annPerson, tokenFor } from '@berth/server/test/support/gateway/tokens.ts'

test('of the visitors of a public app only so many tokens are kept, and none for long after it has expired', () => {
  const inUse = new Set<ScopedTokenCache>()
  const cache = new ScopedTokenCache(inUse)
  assert.equal(inUse.size, 0)
  const expiresAt = clock.wall + 60_000
  for (let visitor = 0; visitor < 5_000; visitor++)
    cache.set(`${visitor}`, annPerson, { token: `${visitor}`, expiresAt })
  assert.equal(cache.size, 1_000)
  assert.equal(cache.get('0', annPerson), undefined)
  assert.equal(cache.get('4999', annPerson)?.token, '4999')
  cache.set('late', annPerson, { token: 'late', expiresAt: clock.wall - 5_000 })
  cache.prune(10_000)
  assert.equal(cache.get('late', annPerson)?.token, 'late', 'while no control plane answers it is used past its end')
  cache.prune(1_000)
  assert.equal(cache.get('late', annPerson), undefined)
  assert.equal(cache.size, 999)
  assert.deepEqual([...inUse], [cache])
})

test('a token for an app is used only for the state of the user that it was issued for, as the user cache holds it', () => {
  const [users, cache] = [new UserCache(), new ScopedTokenCache(new Set())]
  const present = () => users.get(1) ?? annPerson
  const isUsed = () => cache.get('jti', present()) !== undefined
  users.set({ ...annPerson })
  cache.set('jti', present(), { token: 'token', expiresAt: clock.wall + 60_000 })
  assert.ok(isUsed())
  users.replace([{ ...annPerson }])
  assert.ok(isUsed(), 'another control plane sends the same user')
  users.set({ ...annPerson, isAdmin: true })
  assert.ok(!isUsed(), 'promoted')
  users.replace([{ ...annPerson }])
  assert.ok(!isUsed(), 'demoted again')
})

test('what a person has open is counted together while any of their tokens is known, and forgotten after that', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const tokens = new TokenVerifier(new UserCache())
  await tokens.setKeys(settingsOf('').keys)
  const [one, other] = [tokens.verify(await tokenFor(1), ''), tokens.verify(await tokenFor(1), '')]
  assert.ok(one && one.active === other?.active)
  for (let userId = 2; userId < 50; userId++) tokens.verify(await tokenFor(userId), '')
  assert.equal(tokens.counted, 49)
  // Other keys make every token an unknown one.
  await tokens.setKeys([])
  for (let turn = 0; turn < 20 && tokens.counted > 1; turn++) {
    await nextTurn()
    collectGarbage()
    tokens.prune()
  }
  assert.equal(tokens.counted, 1, 'of one a caller is in use still')
  assert.equal(one.active.requests, 0)
})
