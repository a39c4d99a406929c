import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { pollUntil } from '../support/control-plane.ts'
import { startEnginelessBerth, tokenIn } from '../support/berth-without-engine.ts'
import { FakeEngine } from '../support/engine/fake-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'

/**
 * An owner pressed Stop when the engine, in good health, did not answer about their container. It ran, and they were told
 * that it did not; so they were by Keep.
 */
test('a container that the engine does not answer about is never reported as not running', async (t) => {
  const [engine, gateway] = [new FakeEngine(), new FakeGateway()]
  const berth = await startEnginelessBerth(t, {
    env: { CONTAINER_TEMPLATES: JSON.stringify({ dev: { image: 'i', port: 8080, idle_timeout: 600 } }) },
    runtime: engine.runtime,
    gateway,
  })
  await berth.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })
  const mail = berth.mails.at(-1)
  assert.ok(mail)
  const { access_token: token } = (await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)).body
  const ask = (what: string) => berth.call('POST', `/api/container/${what}/dev`, { token })
  assert.notEqual((await ask('keep')).body.until ?? null, null)

  const [id] = engine.made.keys()
  assert.ok(id)
  const silence = new RuntimeError('unreachable', 'inspect')
  engine.before = (call) => (call === 'inspect' ? Promise.reject(silence) : undefined)
  await engine.runtime.pause(id)
  await pollUntil(
    () => gateway.routeStateOf('ann-dev') === 'unknown',
    () => `it is ${gateway.routeStateOf('ann-dev')}`,
  )
  for (const [what, code] of [
    ['stop', 'stopFailed'],
    ['keep', 'keepFailed'],
  ] as const) {
    const answer = await ask(what)
    assert.deepEqual([answer.status, answer.headers.get('berth-refusal')], [500, code], answer.text)
  }
  engine.before = () => undefined
  await pollUntil(
    () => gateway.routeStateOf('ann-dev') === 'paused',
    () => `it is ${gateway.routeStateOf('ann-dev')}`,
  )
  assert.equal((await ask('keep')).status, 200)
  assert.equal((await ask('stop')).status, 200)
  assert.deepEqual(engine.running, [])
})
