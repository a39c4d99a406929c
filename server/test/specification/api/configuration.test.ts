import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, recordOf } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { testImage } from '../../support/engine/engine.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

/** What an operator sets, as people see it. How settings are read and refused is tested beside `config.ts`. */

const image = await testImage()
const env = {
  CONTAINER_TEMPLATES: '',
  USER_TEMPLATE_IMAGE_DEV: image,
  USER_TEMPLATE_IMAGE_PROD: `${image}-of-prod`,
  BASE_DOMAIN: 'berth.example',
}
const berth = await startBerth({ after }, { env })
const admin = await berth.signUp('boss@x.org')

test('the initial template set has the two types dev and prod, at /{slug}-dev and /{slug}-prod', async () => {
  const { containers } = (await admin.call('GET', '/api/user/containers')).body
  assert.deepEqual(
    containers.map(({ type, service_url }: Record<string, string>) => [type, service_url]),
    [
      ['dev', 'http://spawner.berth.example/boss-dev'],
      ['prod', 'http://spawner.berth.example/boss-prod'],
    ],
  )
  for (const { display_name, description } of containers) assert.ok(display_name && description)
})

test('the images of dev and prod come from a variable each', async () => {
  const dev = await recordOf(admin, admin.id, 'dev')
  assert.equal(dev.template_image, image)
  assert.equal((await admin.call('POST', '/api/container/launch/prod')).status, 500, 'there is no such image')
  assert.equal((await recordOf(admin, admin.id, 'prod')).template_image, `${image}-of-prod`)
})

test('a template that names no port gets the one that its image exposes', async () => {
  assert.equal((await recordOf(admin, admin.id, 'dev')).container_port, 8080)
})

test('without BASE_DOMAIN addresses lead to berth.localhost and the port that was bound', async (t) => {
  const local = await startBerth(t, { wrapRuntime: noCreateRuntime })
  const { call } = await local.signUp('ann@x.org')
  const me = await call('GET', '/api/user/me')
  assertOk(me)
  assert.equal(me.body.container.service_url, `http://spawner.berth.localhost:${local.app.port}/ann`)
})

test('keys of templates that no engine could spell as a name are no obstacle to a second start', async (t) => {
  const CONTAINER_TEMPLATES = JSON.stringify({ 'My Lab': { display_name: 'X', description: 'x', image, port: 8080 } })
  const first = await startBerth(t, { env: { CONTAINER_TEMPLATES } })
  const ann = await first.signUp('ann@x.org')
  await first.close()
  const { dataDir, installation } = first
  const second = await startBerth(t, { env: { CONTAINER_TEMPLATES }, dataDir, installation })
  const launched = await second.call('POST', '/api/container/launch/My%20Lab', { token: ann.token })
  assert.equal(launched.body.container_id, ann.auth.user.container_id)
})
