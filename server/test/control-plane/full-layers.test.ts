import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, engineState, until } from '../support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '../support/berth.ts'
import { openStream, stopReasonOf } from '../support/event-stream.ts'
import { askEngine } from '../support/engine/engine.ts'
import { execInContainer } from '../support/engine/exec-in-container.ts'
import { get } from '../support/gateway/raw-client.ts'

/** What people notice of `layer_size` with a real engine that cannot bind what a container writes outside of its home. */
const limit = 1024 ** 2
const berth = await startBerth(
  { after },
  {
    env: { CONTAINER_TEMPLATES: await testTemplates({ home: '/home/berth', layer_size: limit }) },
    pace: { measureHomes: 100 },
  },
)
const admin = await berth.administrator()

const write = (file: string, bytes: number) => `head -c ${bytes} /dev/zero > ${file}`
/** It may be stopped before all is written. */
const fill = (id: string, first = 'true') =>
  execInContainer(id, `${first}; ${write('/tmp/big', 2 * limit)}`).catch(() => undefined)
const entryOf = async (person: Person, language = 'en') => {
  const { body } = await person.call('GET', '/api/user/containers', { headers: { 'accept-language': language } })
  return body.containers.find(({ type }: { type: string }) => type === 'dev')
}
const stopped = (person: Person) => until(async () => (await entryOf(person)).layer_problem !== undefined)

test('close to the limit a container runs on, its owner sees it on present and later pages, and administrators, too', async () => {
  const ann = await berth.signUp('ann@x.org')
  const early = await openStream(berth, ann.token)
  const dev = ann.auth.user.container_id ?? ''
  // What is in the home does not count.
  await execInContainer(dev, `${write('big', 3 * limit)}; ${write('/tmp/big', 1_000_000)}`)
  const warnings = () => early.events.filter(({ name }) => name === 'layer')
  await until(async () => warnings().length > 0)
  const { type, used, limit: max } = warnings()[0]?.data ?? {}
  assert.deepEqual([type, max], ['dev', limit])
  assert.ok(Number(used) >= 1_000_000 && Number(used) < limit, `${Number(used)}`)
  const late = await openStream(berth, ann.token)
  await until(async () => late.events.some(({ name }) => name === 'layer'))
  late.close()
  const system = (language: string) =>
    admin.call('GET', '/api/admin/system', { headers: { 'accept-language': language } })
  assert.match((await system('en')).body.warnings.join(), /as they may: 1\. ann-dev \(user \d+\): .* of 1 MiB\./)
  assert.match((await system('de')).body.warnings.join(), /wie sie dürfen: 1\. ann-dev \(Konto/)
  assert.equal(await engineState(berth, dev), 'running')
  await execInContainer(dev, 'rm /tmp/big')
  await until(async () => Number(warnings().at(-1)?.data.used) < limit / 2)
  early.close()
  assert.equal((await entryOf(ann)).layer_problem, undefined)
})

test('at the limit it is stopped with the reason, and its next launch makes it anew, with its home', async () => {
  const bob = await berth.signUp('bob@x.org')
  const dev = bob.auth.user.container_id ?? ''
  await fill(dev, 'echo kept > note')
  await stopped(bob)
  assert.equal(await engineState(berth, dev), 'exited')
  assert.equal(await stopReasonOf(berth, bob.token), 'layer')
  const { layer_problem, status } = await entryOf(bob)
  assert.equal(status, 'exited')
  assert.match(layer_problem, /^This container was stopped, because it had written \d MiB outside of your home folder/)
  assert.match(
    (await entryOf(bob, 'de')).layer_problem,
    /^Dieser Container wurde gestoppt, weil er .* \d MiB geschrieben/,
  )
  const { entries } = (await admin.call('GET', '/api/admin/audit?action=container.stop-at-limit')).body
  assert.equal(entries.length, 1)
  const { actor, detail } = entries[0]
  assert.deepEqual([actor.id, actor.email], [null, 'Berth'])
  assert.deepEqual([detail.user, detail.type, detail.limit], [bob.id, 'dev', limit])
  assert.ok(detail.used >= limit, detail.used)
  const launched = await bob.call('POST', '/api/container/launch/dev')
  assertOk(launched)
  assert.notEqual(launched.body.container_id, dev)
  const files = await execInContainer(launched.body.container_id, 'cat note; test -e /tmp/big || echo gone')
  assert.match(files, /kept\s+gone/)
  assert.equal((await entryOf(bob)).layer_problem, undefined)
  assert.deepEqual(await askEngine('GET', `/containers/${dev}/json`).catch(() => 'removed'), 'removed')
})

test('a page that is opened at its address makes it anew, too', async () => {
  const cat = await berth.signUp('cat@x.org')
  const dev = cat.auth.user.container_id ?? ''
  await fill(dev)
  await stopped(cat)
  assert.equal(await engineState(berth, dev), 'exited')
  const headers = { authorization: `Bearer ${cat.token}`, accept: 'text/html' }
  await until(async () => (await get(berth.app.port, '/cat-dev/', { headers })).status === 200)
  assert.notEqual((await entryOf(cat)).container_id, dev)
})
