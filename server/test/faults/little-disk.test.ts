import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { NetworkFull, RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { assertOk, assertRefused } from '../support/api-calls.ts'
import { pollUntil } from '../support/control-plane.ts'
import { startEnginelessBerth, tokenIn } from '../support/berth-without-engine.ts'
import { FakeEngine } from '../support/engine/fake-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'

/** Stopped containers while the engine has no room: what their programs wrote outside the home is in them alone. */

const template = { image: 'app:1', port: 8080 }

/** Berth with this template, in this folder, on the engine that all have. */
async function start(t: TestContext, dataDir: string, runtime: Runtime, fields: Record<string, unknown> = {}) {
  const gateway = new FakeGateway()
  // A port in its address would make every container an outdated one at the next start.
  const env = { BASE_DOMAIN: 'berth.test', CONTAINER_TEMPLATES: JSON.stringify({ dev: { ...template, ...fields } }) }
  const berth = await startEnginelessBerth(t, { dataDir, runtime, gateway, env })
  return { berth, gateway }
}

/** Ann’s stopped container. */
async function arrange(t: TestContext) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-disk-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const engine = new FakeEngine()
  const { berth } = await start(t, dataDir, engine.runtime)
  await berth.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })
  const [mail] = berth.mails
  assert.ok(mail)
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  const call = (action: string) => berth.call('POST', `/api/container/${action}/dev`, { token: body.access_token })
  assertOk(await call('stop'))
  return { berth, engine, dataDir, call, made: () => [...engine.made.keys()] }
}

// The old one was removed, and no other could be made; a restart of the machine cost one container per attempt to restore them.
test('a stopped container whose start finds the disk of the engine full stays, and starts once there is room', async (t) => {
  const { engine, call, made } = await arrange(t)
  const before = made()
  engine.before = (verb) => {
    if (verb === 'start') throw new RuntimeError('full', 'start', new Error('no space left on device'))
  }
  const refused = await call('launch')
  assertRefused(refused, 500, ['reason'])
  assert.equal(refused.body.reason, 'full')
  assert.deepEqual(made(), before)
  engine.before = () => undefined
  assertOk(await call('launch'))
  assert.deepEqual(made(), before)
})

test('one whose network has no address left is made anew, on another', async (t) => {
  const { engine, call, made } = await arrange(t)
  const [old] = made()
  engine.before = (verb) => {
    if (verb === 'start' && made().includes(String(old))) throw new NetworkFull('start', new Error('exchange full'))
  }
  assertOk(await call('launch'))
  assert.equal(made().length, 1)
  assert.ok(!made().includes(String(old)))
})

// The image of the next one was pulled, and it was created, on the last bytes; the old one was gone by then.
test('while the disk is nearly full no stopped container makes way for a new one, and one that is up to date starts', async (t) => {
  const { berth, engine, dataDir, made } = await arrange(t)
  await berth.close()
  const before = made()
  const host = async () => ({ ...(await engine.runtime.host()), disk: { total: 1e11, free: 1e8 } })
  const changes: [Record<string, unknown>, Partial<Runtime>][] = [
    [{ image: 'app:2' }, {}],
    [{ memory: '64m' }, {}],
    [{}, { imageId: async () => 'built again' }],
  ]
  const wakeWith = async (fields: Record<string, unknown>, calls: Partial<Runtime>) => {
    const { berth: next, gateway } = await start(t, dataDir, { ...engine.runtime, host, ...calls }, fields)
    await pollUntil(
      () => gateway.routeStateOf('ann-dev') === 'asleep',
      () => `it is ${gateway.routeStateOf('ann-dev')}`,
    )
    const got = await gateway.control?.wake('ann-dev')
    await next.close()
    return got
  }
  for (const [fields, calls] of changes) {
    const what = JSON.stringify([fields, Object.keys(calls)])
    assert.match((await wakeWith(fields, calls))?.refusal?.en ?? '', /no room for another container/, what)
    assert.deepEqual(made(), before, what)
  }
  assert.equal(await wakeWith({}, {}), undefined)
  assert.deepEqual(made(), before)
})
