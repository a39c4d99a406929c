import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { ContainerFiles } from '#/runtime/container-files.ts'
import { pollUntil } from '../support/control-plane.ts'
import {
  startEnginelessBerth,
  tokenIn,
  type EnginelessBerth,
  type EnginelessOptions,
} from '../support/berth-without-engine.ts'
import { FakeEngine } from '../support/engine/fake-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'

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
