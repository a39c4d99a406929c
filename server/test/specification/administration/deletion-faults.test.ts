// Part of npm run test:more: faults of what `deleting-users.test.ts` states.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { assertOk, assertRefused, deleteContainer, deleteUser, engineState, onEngine } from '../../support/api-calls.ts'
import { recordOf, until } from '../../support/api-calls.ts'
import { startBerth, testTemplates, type Berth, type Person } from '../../support/berth.ts'
import { homesOf, markedTemplates, markOf } from '../../support/engine/homes.ts'
import { unreachableRuntime, noStopRuntime, type Fault } from '../../support/engine/faulty-runtimes.ts'
import { webSocketHeaders } from '../../support/web-socket-headers.ts'
import { onlyLong, timeLimit } from '#test/support/extent.ts'

const env = { CONTAINER_TEMPLATES: await markedTemplates() }

test('a container deleted while the engine is down is gone at once for all users, and on the engine when it is back', async (t) => {
  const deafness: Fault = { active: false }
  const berth = await startBerth(t, { env, wrapRuntime: (runtime) => unreachableRuntime(runtime, deafness) })
  const [admin, ann] = [await berth.administrator(), await berth.signUp('ann@x.org')]
  const { id, container_id } = await recordOf(admin, ann.id)
  deafness.active = true
  assertOk(await deleteContainer(admin, id))
  const [entry] = (await ann.call('GET', '/api/user/containers')).body.containers
  assert.equal(entry.status, 'not_created')
  assertRefused(await deleteContainer(admin, id), 404)
  deafness.active = false
  await until(async () => (await engineState(berth, container_id ?? '')) === undefined)
  assert.equal((await homesOf(berth, ann.id)).length, 1)
})

test(
  'a launch after a deletion that the engine has not heard of makes a new container, after a purge with an empty home',
  onlyLong,
  async (t) => {
    const stubbornness: Fault = { active: false }
    const berth = await startBerth(t, { env, wrapRuntime: (runtime) => noStopRuntime(runtime, stubbornness) })
    const [admin, ann] = [await berth.administrator(), await berth.signUp('ann@x.org')]
    let mark = await markOf(ann)
    for (const [query, isKept] of [
      ['', true],
      ['?purge=true', false],
    ] as const) {
      const { id, container_id } = await recordOf(admin, ann.id)
      stubbornness.active = true
      assertOk(await deleteContainer(admin, id, query))
      assert.equal(await engineState(berth, container_id ?? ''), 'running')
      assert.equal((await ann.call('POST', '/api/container/launch/dev')).status, 500)
      stubbornness.active = false
      const launched = await ann.call('POST', '/api/container/launch/dev')
      assertOk(launched)
      assert.deepEqual(await onEngine(berth, ann.id), [launched.body.container_id])
      assert.notEqual(launched.body.container_id, container_id)
      const found = await markOf(ann)
      assert.equal(found === mark, isKept)
      mark = found
    }
  },
)

test('what the engine had not done when Berth ended is done after the next start', async (t) => {
  const first = await startBerth(t, { env, wrapRuntime: (runtime) => noStopRuntime(runtime, { active: true }) })
  const admin = await first.administrator()
  const [ann, ben] = [await first.signUp('ann@x.org'), await first.signUp('ben@x.org')]
  assertOk(await deleteContainer(admin, (await recordOf(admin, ann.id)).id))
  assertOk(await deleteUser(admin, ben.id, '?purge=true'))
  await first.close()
  assert.equal((await onEngine(first, ann.id)).length + (await onEngine(first, ben.id)).length, 2)
  const second = await startBerth(t, { env, dataDir: first.dataDir, installation: first.installation })
  await until(async () => (await onEngine(second, ann.id)).length + (await onEngine(second, ben.id)).length === 0)
  await until(async () => (await homesOf(second, ben.id)).length === 0)
  assert.equal((await homesOf(second, ann.id)).length, 1)
})

test('a WebSocket of a deleted user is cut at once, also while the container still runs', async (t) => {
  const stubbornness: Fault = { active: false }
  const berth = await startBerth(t, {
    env: { CONTAINER_TEMPLATES: await echoTemplates() },
    wrapRuntime: (runtime) => noStopRuntime(runtime, stubbornness),
  })
  const [admin, ann] = [await berth.administrator(), await berth.signUp('ann@x.org')]
  const socket = await openWebSocket(berth, ann)
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(timeLimit(5_000)) })
  stubbornness.active = true
  assertOk(await deleteUser(admin, ann.id))
  await closed
  assert.equal((await onEngine(berth, ann.id)).length, 1)
  assertRefused(await ann.call('GET', '/ann-dev/'), 401)
  stubbornness.active = false
  await until(async () => (await onEngine(berth, ann.id)).length === 0)
})

test('an app that ignores SIGTERM makes no request wait', onlyLong, async (t) => {
  const command = ['/bin/sh', '-c', "trap '' TERM; httpd -f -p 8080 -h /home/berth & while :; do wait; done"]
  const stubborn = { CONTAINER_TEMPLATES: await testTemplates({ command }) }
  const berth = await startBerth(t, { env: stubborn })
  const [admin, ann] = [await berth.administrator(), await berth.signUp('ann@x.org')]
  const asked = performance.now()
  assertOk(await deleteUser(admin, ann.id))
  const waited = performance.now() - asked
  assert.ok(waited < 10_000, `${waited} ms`)
  await until(async () => (await onEngine(berth, ann.id)).length === 0)
})

/** An app that takes every connection for a WebSocket with the key below, and echoes. */
async function echoTemplates(): Promise<string> {
  const answer = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
  ]
  const app = `#!/bin/sh\nwhile read -r line && [ "\${#line}" -gt 1 ]; do :; done\nprintf '${answer.join('\\r\\n')}\\r\\n\\r\\n'\nexec cat\n`
  const script = `printf '%s' "$APP" > /tmp/app; chmod +x /tmp/app; exec nc -ll -p 8080 -e /tmp/app`
  return testTemplates({ command: ['/bin/sh', '-c', script], env: { APP: app } })
}

async function openWebSocket(berth: Berth, { token, slug }: Person): Promise<Socket> {
  const headers = webSocketHeaders(token)
  const asked = http.get(`${berth.url}/${slug}-dev/`, { headers })
  const [, socket] = (await once(asked, 'upgrade')) as [http.IncomingMessage, Socket]
  return socket.on('error', () => undefined)
}
