import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, assertRefused, until } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { execInContainer } from '../../support/engine/exec-in-container.ts'
import { testImage } from '../../support/engine/engine.ts'

/** Templates that are read again while Berth runs, and who runs an older version. */

const folder = await mkdtemp(path.join(tmpdir(), 'berth-templates-'))
after(() => rm(folder, { recursive: true, force: true }))
const file = path.join(folder, 'templates.yaml')
const shared = path.join(folder, 'shared')
await mkdir(path.join(shared, 'data'), { recursive: true })
const image = await testImage()
const dev = { image, memory: '64m', display_name: 'First' }
const write = (templates: object) => writeFile(file, JSON.stringify(templates))
await write({ dev })
const settings = { CONTAINER_TEMPLATES: '', CONTAINER_TEMPLATES_FILE: file, ALLOWED_MOUNT_ROOTS: shared }
const berth = await startBerth({ after }, { env: settings })
const admin = await berth.administrator()
const ann = await berth.signUp('ann@x.org')
const reload = () => admin.call('POST', '/api/admin/templates/reload')
const listed = async () => (await admin.call('GET', '/api/admin/templates')).body.templates
const typesOf = async () =>
  (await ann.call('GET', '/api/user/containers')).body.containers.map((each: { type: string }) => each.type)

test('a reload brings new types, and keeps what runs; who runs an older version is named until it is made anew', async () => {
  const [before] = await listed()
  assert.deepEqual([before.type, before.older], ['dev', []])
  const { container_id } = (await ann.call('GET', '/api/container/status')).body
  await write({ dev: { ...dev, memory: '80m' }, lab: dev })
  const answer = await reload()
  assertOk(answer)
  assert.deepEqual(Object.keys(answer.body), ['message'])
  assert.deepEqual(await typesOf(), ['dev', 'lab'])
  const [now, lab] = await listed()
  assert.notEqual(now.version, before.version)
  assert.deepEqual(now.older, [{ user_id: ann.id, email: 'ann@x.org', container_id }])
  assert.deepEqual(lab.older, [])
  assert.equal((await ann.call('GET', `/${ann.slug}-dev/`)).status, 200, 'its app answers still')
  assert.equal((await ann.call('GET', '/api/container/status')).body.container_id, container_id)

  assertOk(await ann.call('POST', '/api/container/launch/lab'))
  assert.equal((await ann.call('GET', `/${ann.slug}-lab/`)).status, 200, 'and the new one is reached')
  assertOk(await ann.call('POST', '/api/container/restart'))
  assert.deepEqual((await listed())[0].older, [])
})

test('an administrator sees the image, asks owners to restart, and replaces what is older; its home stays', async () => {
  await write({ dev: { ...dev, memory: '96m' }, lab: dev })
  assertOk(await reload())
  const update = (mode: string) => admin.call('POST', '/api/admin/templates/dev/update', { body: { mode } })
  const entry = async () => (await ann.call('GET', '/api/user/containers')).body.containers[0]
  const [before] = await listed()
  assert.deepEqual([before.older.length, before.asked, before.image.reference], [1, 0, image])
  assert.match(before.image.id, /^[0-9a-f]{64}$/)
  assert.ok(Date.parse(before.image.pulled_at) <= Date.now())
  assert.equal((await entry()).restart_requested, undefined)
  assert.match((await update('ask')).body.message, /^1 owner is asked to restart\.$/)
  assert.deepEqual([(await listed())[0].asked, (await entry()).restart_requested], [1, true])
  assert.match((await update('when_stopped')).body.message, /^1 container gets the new version at its next start\.$/)
  assert.deepEqual([(await listed())[0].asked, (await entry()).restart_requested], [0, undefined])

  const old = (await entry()).container_id
  await execInContainer(old, 'echo kept > kept')
  assert.match((await update('now')).body.message, /^1 container is being replaced\.$/)
  await until(async () => (await listed())[0].older.length === 0 && (await entry()).status === 'running')
  assert.notEqual((await entry()).container_id, old)
  assert.equal(await execInContainer((await entry()).container_id, 'cat kept'), 'kept\n')
  assertRefused(await admin.call('POST', '/api/admin/templates/none/update', { body: { mode: 'now' } }), 400)
  assertRefused(await update('soon'), 400)
  await write({ dev: { ...dev, memory: '80m' }, lab: dev })
  assertOk(await reload())
  // A replacement that is about to end is joined, and was begun with the template before.
  await until(async () => {
    assertOk(await update('now'))
    return (await listed())[0].older.length === 0
  })
})

test('a name alone is no new version', async () => {
  const [before] = await listed()
  await write({ dev: { ...dev, memory: '80m', display_name: 'Second' }, lab: dev })
  assertOk(await reload())
  assert.deepEqual((await listed())[0], before)
  const { containers } = (await ann.call('GET', '/api/user/containers')).body
  assert.equal(containers[0].display_name, 'Second')
})

test('with one mistake none of the templates counts, and all mistakes are named', async () => {
  await write({
    dev: { ...dev, display_name: 'Third' },
    lab: { ...dev, memory: 'much' },
    gpu: { ...dev, colour: 'red' },
  })
  const answer = await reload()
  assertRefused(answer, 400)
  assert.match(answer.body.error, /stay in force.*lab: memory must be.* gpu: unknown field "colour"/)
  await write({ dev, lab: { ...dev, gpus: 1 } })
  assert.match((await reload()).body.error, /the template "lab" asks for 1 GPU, and the engine offers none/)
  const mounting = (source: string, read_only: boolean) => ({
    ...dev,
    mounts: [{ source: { path: source }, target: '/m', read_only }],
  })
  await write({ dev: mounting(shared, false), lab: mounting(path.join(shared, 'data'), true) })
  assert.match(
    (await reload()).body.error,
    /lab: mounts \/m names \S+data, which is below \S+, and dev mounts \S+ writable/,
  )
  await rm(file)
  assertRefused(await reload(), 400)
  assert.deepEqual(await typesOf(), ['dev', 'lab'])
  assert.equal((await ann.call('GET', '/api/user/containers')).body.containers[0].display_name, 'Second')
})

test('a type that is gone is launched no more, and its container runs on', async () => {
  await write({ dev })
  const { containers } = (await ann.call('GET', '/api/user/containers')).body
  const lab = containers.find((each: { type: string }) => each.type === 'lab').container_id
  assertOk(await reload())
  assertRefused(await ann.call('POST', '/api/container/launch/lab'), 400)
  assert.equal((await berth.runtime.inspectId(lab))?.state, 'running')
  await write({ dev, lab: dev })
  assertOk(await reload())
  assert.equal((await ann.call('GET', `/${ann.slug}-lab/`)).status, 200, 'its app is reached again')
})

test('a reload takes another image of a type, and none that could run something', async () => {
  const picture = path.join(folder, 'lab.svg')
  const drawing = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${inside}</svg>`
  const icons = async () =>
    (await ann.call('GET', '/api/user/containers')).body.containers.map((each: { icon?: string }) => each.icon)
  await writeFile(picture, drawing('<path d="M0 0h8"/>'))
  await write({ dev: { ...dev, icon: 'book' }, lab: { ...dev, icon: picture } })
  assertOk(await reload())
  const [book, image] = await icons()
  assert.equal(book, 'book')
  assert.equal(await (await berth.call('GET', image)).text, drawing('<path d="M0 0h8"/>'))
  await writeFile(picture, drawing('<path d="M0 0h8" onload="x"/>'))
  assertRefused(await reload(), 400)
  assert.deepEqual(await icons(), [book, image], 'the templates before stay')
  await write({ dev, lab: dev })
  assertOk(await reload())
  assert.equal((await berth.call('GET', image)).status, 404, 'what no template names is not there any more')
})

test('each reload is in the audit log, and only administrators make one', async () => {
  const { entries } = (await admin.call('GET', '/api/admin/audit')).body
  assert.deepEqual(entries.filter(({ action }: { action: string }) => action === 'templates.reload').length, 8)
  for (const [method, target] of [
    ['POST', '/api/admin/templates/reload'],
    ['GET', '/api/admin/templates'],
    ['POST', '/api/admin/templates/dev/update'],
  ] as const) {
    assertRefused(await ann.call(method, target), 403)
    assertRefused(await berth.call(method, target), 401)
  }
})

test('templates that are given as text are not read again', async (t) => {
  const other = await startBerth(t)
  const boss = await other.administrator()
  const answer = await boss.call('POST', '/api/admin/templates/reload')
  assertRefused(answer, 409)
  assert.match(answer.body.error, /given as text, not as a file/)
})

test('a container that was stopped is not asked for a restart any more: its next start brings the new version', async () => {
  const entry = async () => (await ann.call('GET', '/api/user/containers')).body.containers[0]
  assertOk(await ann.call('POST', '/api/container/restart'))
  await write({ dev: { ...dev, memory: '112m' }, lab: dev })
  assertOk(await reload())
  assertOk(await admin.call('POST', '/api/admin/templates/dev/update', { body: { mode: 'ask' } }))
  assert.equal((await entry()).restart_requested, true)
  assertOk(await ann.call('POST', '/api/container/stop/dev'))
  assert.equal((await entry()).restart_requested, undefined)
})
