import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, logIn } from '../../support/api-calls.ts'
import { startBerth, testTemplates, type Berth, type Person } from '../../support/berth.ts'
import { askEngine, buildImage, testImage } from '../../support/engine/engine.ts'
import { execInContainer } from '../../support/engine/exec-in-container.ts'
import { onlyLong } from '#test/support/extent.ts'

/** Files in a home are there in every later container of its owner. */
const ends: (() => Promise<void>)[] = []
// All at the end: `after` within a test would end, and empty, a Berth with that test.
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})
let berth = await startBerth(lifetime)
const ann = await berth.signUp('ann@x.org')
let id = ann.auth.user.container_id ?? ''
await execInContainer(id, 'echo mine > canary && mkdir deep && ln -s ../canary deep/link && chmod 600 canary')

const ask = (path: string, given: Pick<Person, 'token'> = ann) => berth.call('POST', path, { token: given.token })

/** The file is there, with what was written into it, as it was. */
const isThere = (container: string) =>
  execInContainer(container, 'test "$(cat deep/link)" = mine && test "$(stat -c %a canary)" = 600')

/** Another Berth on the same data, with other templates. */
async function restartBerth(fields: Record<string, unknown> = {}): Promise<Berth> {
  await berth.close()
  const { dataDir, installation } = berth
  const env = { CONTAINER_TEMPLATES: await testTemplates(fields) }
  return startBerth(lifetime, { dataDir, installation, env })
}

/** @returns whether it is another container than before */
async function answered(path: string): Promise<boolean> {
  const reply = await ask(path)
  assertOk(reply)
  const isNew = reply.body.container_id !== id
  id = reply.body.container_id
  return isNew
}

test('a file in the home is there after a stop and a launch', async () => {
  await berth.runtime.stop(id)
  assert.equal(await answered('/api/container/launch/dev'), false)
  await isThere(id)
})

test('a file in the home is there after a restart, which makes a new container', async () => {
  assert.equal(await answered('/api/container/restart'), true)
  await isThere(id)
})

test('a file in the home is there when the container was removed behind our back, volumes and all', async () => {
  await askEngine('DELETE', `/containers/${id}`, { query: { force: 'true', v: 'true' } })
  assert.equal(await answered('/api/container/launch/dev'), true)
  await isThere(id)
})

test('a file in the home is there after a login that had to make the container anew', async () => {
  await askEngine('DELETE', `/containers/${id}`, { query: { force: 'true', v: 'true' } })
  const reply = await logIn(berth, 'ann@x.org')
  assertOk(reply)
  id = reply.body.user.container_id
  await isThere(id)
})

test('a file in the home is there when Berth was started again, and when the template has changed', async () => {
  berth = await restartBerth({ memory: '96m', env: { NEW: 'yes' } })
  assert.equal(await answered('/api/container/launch/dev'), false)
  await isThere(id)
  await berth.runtime.stop(id)
  assert.equal(await answered('/api/container/launch/dev'), true)
  await isThere(id)
})

test('a file in the home is there in a container of another image', onlyLong, async () => {
  const image = `${berth.installation}:other`
  ends.unshift(() => askEngine('DELETE', `/images/${image}`, { query: { force: 'true' } }))
  await buildImage(image, `FROM ${await testImage()}\nLABEL other=yes\nUSER 1000:1000\n`)
  berth = await restartBerth({ image })
  await berth.runtime.stop(id)
  assert.equal(await answered('/api/container/launch/dev'), true)
  const { Config } = await askEngine<{ Config: { Image: string } }>('GET', `/containers/${id}/json`)
  assert.equal(Config.Image, image)
  await isThere(id)
})

test(
  'a file in the home is there when the image was built again under its name: what stopped gets the new one',
  onlyLong,
  async () => {
    const image = `${berth.installation}:other`
    await buildImage(image, `FROM ${await testImage()}\nLABEL other=again\nUSER 1000:1000\n`)
    assert.equal(await answered('/api/container/launch/dev'), false, 'what runs keeps the old one')
    await berth.runtime.stop(id)
    assert.equal(await answered('/api/container/launch/dev'), true)
    assert.equal((await berth.runtime.inspectId(id))?.imageId, await berth.runtime.imageId(image))
    await isThere(id)
    await berth.runtime.stop(id)
    assert.equal(await answered('/api/container/launch/dev'), false, 'it is of the new one already')
  },
)

test('each type has a home of its own', async (t) => {
  const alone = await startBerth(t)
  const bob = await alone.signUp('bob@x.org')
  await execInContainer(bob.auth.user.container_id ?? '', 'echo mine > canary')
  const prod = await bob.call('POST', '/api/container/launch/prod')
  assertOk(prod)
  await execInContainer(prod.body.container_id, 'test ! -e canary && test -e index.html')
})
