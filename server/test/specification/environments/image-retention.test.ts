// Part of npm run test:more: images are looked at every twentieth run of the reconciler.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { startImageRegistry } from '#test/support/engine/image-registry.ts'
import { waitFor } from '#test/support/program.ts'

/** What becomes of images that Berth pulled, with the real engine: `KEEP_IMAGES`. */
const { host } = await startImageRegistry({ after }, ['1', '2', 'other'])
const imageOf = (tag: string) => `${host}/course:${tag}`
const folder = mkdtempSync(path.join(tmpdir(), 'berth-templates-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = path.join(folder, 'templates.json')
const name = (tag: string) =>
  writeFileSync(file, JSON.stringify({ course: { image: imageOf(tag), port: 8080, memory: '64m' } }))
name('1')

const berth = await startBerth(
  { after },
  { env: { CONTAINER_TEMPLATES_FILE: file, CONTAINER_TEMPLATES: '', KEEP_IMAGES: '1' }, pace: { every: 200 } },
)
const boss = await berth.administrator()
const has = (tag: string) =>
  askEngine('GET', `/images/${imageOf(tag)}/json`).then(
    () => true,
    () => false,
  )
after(async () => {
  for (const tag of ['1', '2', 'other']) await askEngine('DELETE', `/images/${imageOf(tag)}`).catch(() => undefined)
})
const pulled = async () => (await boss.call('GET', '/api/admin/system')).body.images?.pulled ?? []
const launch = async () => assertOk(await boss.call('POST', '/api/container/launch/course'))

test('the system page tells what was pulled, with its size', async () => {
  await launch()
  await waitFor('the image is told', async () => (await pulled()).length === 1)
  const [found] = await pulled()
  assert.deepEqual([found.image, found.is_needed, found.goes_at], [imageOf('1'), true, null])
  assert.ok(found.bytes > 500_000)
})

test('an image that no template names goes when no container has it, of whichever program', async () => {
  // Another program pulls one, and has a container of the first.
  await askEngine('POST', '/images/create', { query: { fromImage: `${host}/course`, tag: 'other' } })
  const { Id: id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body: { Image: imageOf('1') } })
  const removeOther = () => askEngine('DELETE', `/containers/${id}`, { query: { force: 'true' } })
  after(() =>
    removeOther()
      .catch(() => undefined)
      .then(() => undefined),
  )
  name('2')
  assertOk(await boss.call('POST', '/api/admin/templates/reload'))
  assertOk(await boss.call('POST', '/api/container/stop/course'))
  await launch()
  const one = async () => (await pulled()).find(({ image }: { image: string }) => image === imageOf('1'))
  await waitFor('the first one is not needed', async () => (await one())?.is_needed === false)
  assert.ok(Date.parse((await one()).goes_at) > 0)
  // Two looks later it is there still: the other program's container has it, although it never ran.
  const twice = async () => {
    const before = (await boss.call('GET', '/api/admin/system')).body.reconciler.last_run
    await waitFor('further runs', async () => {
      const { last_run } = (await boss.call('GET', '/api/admin/system')).body.reconciler
      return Date.parse(last_run) - Date.parse(before) > 9_000
    })
  }
  await twice()
  assert.equal(await has('1'), true)
  await removeOther()
  await waitFor('the first one is gone', async () => !(await has('1')), 30_000)
  assert.deepEqual([await has('2'), await has('other')], [true, true])
  await waitFor('it is told no more', async () => (await one()) === undefined)
})
