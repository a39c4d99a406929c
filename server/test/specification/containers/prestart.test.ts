import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertOk, blockContainer, logIn, recordOf, until } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { testImage } from '../../support/engine/engine.ts'
import { startRegistry } from '../../support/engine/registry.ts'

/** Containers that are started and paused ahead of their owner's request. */

const image = await testImage()
const template = (fields: object = {}) => ({ image, memory: '64m', ...fields })

const statusesOf = async (person: Person) => {
  const { containers } = (await person.call('GET', '/api/user/containers')).body
  return Object.fromEntries(containers.map((each: Record<string, string>) => [each.type, each.status]))
}

test('a sign-in starts and pauses what its template asks for, within the limits; a launch without room takes its place', async (t) => {
  const templates = { dev: template(), lab: template({ prestart: true }), extra: template() }
  const env = { CONTAINER_TEMPLATES: JSON.stringify(templates), MAX_PER_USER: '2' }
  const berth = await startBerth(t, { env })
  const boss = await berth.administrator()
  const ann = await berth.signUp('ann@x.org')
  const name = `${berth.installation}-${ann.slug}-lab`
  await until(async () => (await berth.runtime.inspect(name))?.state === 'paused')
  await until(async () => (await statusesOf(ann)).lab === 'paused')
  assert.equal((await statusesOf(ann)).dev, 'running')
  const opened = await ann.call('GET', `/${ann.slug}-lab/`)
  assert.deepEqual([opened.status, opened.text], [200, 'hello\n'])
  // What is in use gives way to nothing.
  const full = await ann.call('POST', '/api/container/launch/extra')
  assert.deepEqual([full.status, full.body.reason], [500, 'full'])

  const bob = await berth.signUp('bob@x.org')
  await until(async () =>
    berth.logs.some((line) => line.includes('paused a container') && line.includes(`"userId":${bob.id}`)),
  )
  assertOk(await bob.call('POST', '/api/container/launch/extra'))
  await until(async () => (await statusesOf(bob)).lab === 'exited')
  assert.equal((await statusesOf(bob)).extra, 'running')
  // No room is left for it at the next sign-in, and no page shows a failure.
  assertOk(await logIn(berth, 'bob@x.org'))
  assertOk(await bob.call('POST', '/api/container/stop/extra'))
  const { id } = await recordOf(boss, bob.id, 'lab')
  assertOk(await blockContainer(boss, id))
  assertOk(await logIn(berth, 'bob@x.org'))
  const after = await statusesOf(bob)
  assert.deepEqual([after.dev, after.extra, after.lab], ['running', 'exited', 'exited'])
  assert.deepEqual(
    berth.logs.filter((line) => line.includes('ahead failed') && !line.includes(`"userId":${boss.id}`)),
    [],
  )
})

test('with idle_probe one that was started ahead is paused too, and a page that was left open does not end that', async (t) => {
  const serving = 'cd /home/berth; echo "{\\"jobs\\": 0}" > state; httpd -p 8080 -h /home/berth; exec tail -f /dev/null'
  const probed = { idle_probe: { path: 'state', active: '/jobs' }, idle_timeout: 600 }
  const lab = template({ ...probed, prestart: true, command: ['/bin/sh', '-c', serving] })
  const berth = await startBerth(t, { env: { CONTAINER_TEMPLATES: JSON.stringify({ dev: template(), lab }) } })
  await berth.administrator()
  const ann = await berth.signUp('ann@x.org')
  await until(async () => (await statusesOf(ann)).lab === 'paused')
  const target = `/${ann.slug}-lab/state`
  const ofPage = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
  for (let time = 0; time < 5; time += 1) assert.equal((await ann.call('GET', target, { headers: ofPage })).status, 503)
  assert.equal((await statusesOf(ann)).lab, 'paused')
  const toPage = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  assert.equal((await ann.call('GET', target, { headers: toPage })).status, 200)
  assert.equal((await statusesOf(ann)).lab, 'running')
})

test('the engine has the image of every template before the first launch; one that no registry has is a warning', async (t) => {
  const registry = await startRegistry(t)
  const gone = '127.0.0.1:9/berth/gone:1'
  const templates = { dev: template(), gone: { image: gone }, lab: { image: registry.image } }
  const env = { CONTAINER_TEMPLATES: JSON.stringify(templates), FETCH_IMAGES: 'all' }
  const berth = await startBerth(t, { env })
  await until(async () => (await berth.runtime.imageId(registry.image)) !== undefined)
  const said = berth.logs.filter((line) => line.includes('fetching an image ahead failed'))
  assert.equal(said.length, 1, said.join('\n'))
  assert.ok(said[0]?.includes(gone))
  assert.equal((await berth.administrator()).id, 1, 'and all else goes on')
})
