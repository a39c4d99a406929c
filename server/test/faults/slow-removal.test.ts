import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { pollUntil } from '../support/control-plane.ts'
import { startEnginelessBerth, tokenIn, type EnginelessBerth } from '../support/berth-without-engine.ts'
import { FakeEngine } from '../support/engine/fake-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'
import { timeLimit } from '../support/extent.ts'

/**
 * Docker took 6 s to fail to remove a deleted container. The reconciler waited for that first, and the containers of a user
 * who had been blocked while the engine was away ran on until 10 s after its return.
 */
test('what is blocked is stopped when the engine can again, however long the removal of another container takes', async (t) => {
  const engine = new FakeEngine()
  const berth = await startEnginelessBerth(t, {
    env: { CONTAINER_TEMPLATES: JSON.stringify({ dev: { image: 'i', port: 8080 } }) },
    runtime: engine.runtime,
    gateway: new FakeGateway(),
  })
  const { token } = await signUp(berth, 'ann@x.org')
  const [bob, cat] = [await signUp(berth, 'bob@x.org'), await signUp(berth, 'cat@x.org')]
  for (const each of [bob, cat]) await berth.call('POST', '/api/container/launch/dev', { token: each.token })
  const nameOfCat = `dev of ${cat.id}`
  assert.ok(engine.running.includes(nameOfCat))

  const { promise: removed, resolve: remove } = Promise.withResolvers<void>()
  t.after(() => remove())
  engine.before = (call) => {
    if (call === 'remove') return removed
    if (call === 'stop') throw new RuntimeError('unreachable', 'stop')
  }
  // Answered once the removal has taken too long, which has the reconciler go on with it.
  await berth.call('DELETE', `/api/admin/users/${bob.id}`, { token })
  await berth.call('POST', `/api/admin/users/${cat.id}/block`, { token })
  assert.ok(engine.running.includes(nameOfCat))

  engine.before = (call) => (call === 'remove' ? removed : undefined)
  const began = performance.now()
  await pollUntil(
    () => !engine.running.includes(nameOfCat),
    () => `it runs for ${performance.now() - began} ms`,
  )
  const took = performance.now() - began
  remove()
  assert.ok(took < timeLimit(5_000), `${took} ms`)
})

async function signUp(berth: EnginelessBerth, email: string): Promise<{ id: number; token: string }> {
  await berth.call('POST', '/api/auth/signup', { body: { email } })
  const mail = berth.mails.at(-1)
  assert.ok(mail)
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  return { id: body.user.id, token: body.access_token }
}
