import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ContainerFiles, Runtime } from '#/engines/runtime.ts'
import { pollUntil } from '../support/control-plane.ts'
import {
  startEnginelessBerth,
  tokenIn,
  type EnginelessBerth,
  type EnginelessOptions,
} from '../support/berth-without-engine.ts'
import { FakeEngine, type FakeEngineCall } from '../support/engine/fake-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'
import { timeLimit } from '#test/support/extent.ts'

/** What a request for a container starts, as its owner and its visitors see it. */

/** @param fields of the one template */
async function arrange(t: TestContext, fields: Record<string, unknown> = {}, options: EnginelessOptions = {}) {
  const [engine, gateway] = [new FakeEngine(), new FakeGateway()]
  const berth = await startEnginelessBerth(t, {
    runtime: engine.runtime,
    gateway,
    pace: { every: 300 },
    ...options,
    env: { CONTAINER_TEMPLATES: JSON.stringify({ dev: { image: 'i', port: 8080, ...fields } }), ...options.env },
  })
  return { berth, engine, gateway }
}

/** A user whose container of the first type is launched with that. @returns their token */
async function signUp({ berth }: { berth: EnginelessBerth }, slug = 'ann'): Promise<string> {
  await berth.call('POST', '/api/auth/signup', { body: { email: `${slug}@x.org` } })
  const mail = berth.mails.at(-1)
  assert.ok(mail)
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  return (body as { access_token: string }).access_token
}

const untilRouteState = (gateway: FakeGateway, word: string) =>
  pollUntil(
    () => gateway.routeStateOf('ann-dev') === word,
    () => `ann-dev is ${gateway.routeStateOf('ann-dev')}, not ${word}`,
  )

/** Makes a call of the engine wait. */
function gateAt(engine: FakeEngine, call: FakeEngineCall) {
  const [begun, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  engine.before = async (each) => {
    if (each !== call) return
    begun.resolve()
    await opened.promise
  }
  return { begun: begun.promise, open: opened.resolve }
}

// An open page of a visitor started a public container again, right after its owner or an administrator had stopped it.
test('what is being stopped stays stopped when a visitor asks for it, and starts when its owner does', async (t) => {
  const { berth, engine, gateway } = await arrange(t)
  const token = await signUp({ berth })
  const stop = async (right: 'start' | 'resume') => {
    const gate = gateAt(engine, 'stop')
    const stopped = berth.call('POST', '/api/container/stop/dev', { token })
    await gate.begun
    const waking = gateway.control?.wake('ann-dev', 'request', right)
    gate.open()
    assert.equal((await stopped).status, 200)
    return waking
  }
  assert.equal((await stop('resume'))?.reason, 'asleep')
  assert.deepEqual(engine.running, [])
  assert.equal(await gateway.control?.wake('ann-dev', 'request', 'start'), undefined)
  assert.equal(await stop('start'), undefined)
  assert.equal(engine.running.length, 1)
})

test('what is paused, or being paused, goes on for a visitor, who gets nothing started in its place', async (t) => {
  const { berth, engine, gateway } = await arrange(t, { idle_pause: 1 })
  await signUp({ berth })
  const gate = gateAt(engine, 'pause')
  await gate.begun
  const waking = gateway.control?.wake('ann-dev', 'request', 'resume')
  gate.open()
  assert.equal(await waking, undefined)
  assert.equal(engine.running.length, 1)
  await untilRouteState(gateway, 'paused')
  assert.equal(await gateway.control?.wake('ann-dev', 'request', 'resume'), undefined)
  assert.equal(engine.running.length, 1)

  await untilRouteState(gateway, 'paused')
  engine.before = (call) => {
    if (call === 'start') throw new RuntimeError('failed', 'unpause')
  }
  const made = [...engine.made.keys()]
  assert.deepEqual(await gateway.control?.wake('ann-dev', 'request', 'resume'), { reason: 'asleep', exitCode: null })
  assert.deepEqual([...engine.made.keys()], made)
})

// As many visits as LAUNCH_PARALLEL kept all launches of a cluster waiting for 15 s; the owner's stop failed after 25 s.
test('a visit to a container that waits for a node lets others launch meanwhile, and its owner can stop it', async (t) => {
  const engine = new FakeEngine()
  const over = new AbortController()
  t.after(() => over.abort(new RuntimeError('failed', 'start')))
  const waiting = new Set<string>()
  let hasNode = true
  const start: Runtime['start'] = async (id, signal, onWait) => {
    if (hasNode) return engine.runtime.start(id)
    waiting.add(id)
    onWait?.('node')
    const end = AbortSignal.any([over.signal, ...(signal ? [signal] : [])])
    return new Promise((_, reject) => end.addEventListener('abort', () => reject(end.reason as Error)))
  }
  const runtime = { ...engine.runtime, start }
  const { berth, gateway } = await arrange(t, {}, { runtime, env: { LAUNCH_PARALLEL: '1' } })
  const [ann, bob] = [await signUp({ berth }), await signUp({ berth }, 'bob')]
  const call = (action: string, token: string) => berth.call('POST', `/api/container/${action}/dev`, { token })
  for (const token of [ann, bob]) assert.equal((await call('stop', token)).status, 200)

  hasNode = false
  const waking = gateway.control?.wake('ann-dev', 'request', 'start')
  await pollUntil(
    () => waiting.size > 0,
    () => 'it is never started',
  )
  hasNode = true
  const begun = performance.now()
  assert.equal((await call('launch', bob)).status, 200)
  assert.equal((await call('stop', ann)).status, 200)
  assert.ok(performance.now() - begun < timeLimit(3_000))
  assert.equal((await waking)?.reason, 'asleep')
  assert.deepEqual(engine.running, ['dev of 2'])
})

/** Homes that are empty, and what is written to them. */
function emptyHomes() {
  const written: string[] = []
  const files: ContainerFiles = {
    begin: async () => ({ requireWhole: async () => undefined, leave: () => undefined }),
    status: async () => undefined,
    linkTarget: async () => '',
    read: async function* () {},
    accountFor: async () => ({ uid: 1_000, gid: 1_000 }),
    write: async (id) => void written.push(id),
  }
  return { files, written }
}

// The open page of a student started it: it ran without the files of the course from then on.
test('a container that was made and lacks its starter files is not started by a visit, but made anew with them', async (t) => {
  const roots = mkdtempSync(path.join(tmpdir(), 'berth-course-'))
  t.after(() => rmSync(roots, { recursive: true }))
  writeFileSync(path.join(roots, 'lab.txt'), 'lab 1')
  const fields = { home: '/home/berth', files: [{ from: { path: roots }, to: 'course' }] }
  const env = { ALLOWED_MOUNT_ROOTS: roots, BASE_DOMAIN: 'berth.test' }
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-visits-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const { berth, engine } = await arrange(t, fields, { env, dataDir })
  // The engine is restarted meanwhile: it takes no files, and removes nothing.
  engine.before = (call) => {
    if (call === 'remove') throw new RuntimeError('unreachable', 'remove')
  }
  await signUp({ berth })
  assert.deepEqual(
    [...engine.made.values()].map(({ state }) => state),
    ['created'],
  )
  await berth.close()

  engine.before = () => undefined
  const [lacking] = engine.made.keys()
  const { files, written } = emptyHomes()
  const { gateway } = await arrange(t, fields, {
    env,
    dataDir,
    runtime: { ...engine.runtime, containerFiles: () => files },
  })
  await untilRouteState(gateway, 'asleep')
  assert.equal(await gateway.control?.wake('ann-dev', 'request', 'start'), undefined)
  assert.equal(engine.running.length, 1)
  assert.deepEqual(written, [...engine.made.keys()])
  assert.ok(!written.includes(String(lacking)))
})
