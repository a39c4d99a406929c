import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryRepository } from '../../test-support/temporary-repository.mjs'
import { ensureImages, needBusybox } from './demo-images.mjs'

const unset = {
  CONTAINER_TEMPLATES: '',
  CONTAINER_TEMPLATES_FILE: '',
  USER_TEMPLATE_IMAGE_DEV: '',
  USER_TEMPLATE_IMAGE_PROD: '',
}
const nowhere = { ...unset, PATH: '/nonexistent', DOCKER_HOST: 'unix:///nonexistent/engine.sock' }

for (const own of [
  { CONTAINER_TEMPLATES: '{}' },
  { CONTAINER_TEMPLATES_FILE: 'templates.yaml' },
  { USER_TEMPLATE_IMAGE_DEV: 'a', USER_TEMPLATE_IMAGE_PROD: 'b' },
]) {
  test(`a start with ${Object.keys(own).join(' and ')} needs neither BusyBox nor demo images`, async (t) => {
    const { here } = temporaryRepository(t, {}, { ...nowhere, ...own })
    assert.equal(await needBusybox(here, 'start'), undefined)
    await ensureImages(here, 'start')
  })
}

test('with one image configured, the other container type still needs a demo image', async (t) => {
  const { here } = temporaryRepository(t, {}, { ...nowhere, USER_TEMPLATE_IMAGE_DEV: 'a' })
  assert.deepEqual((await needBusybox(here, 'start'))?.packages, ['busybox-static'])
})

test('an engine that stops before the demo images are checked ends set-up with a message', async (t) => {
  const { here } = temporaryRepository(t, {}, nowhere)
  await assert.rejects(ensureImages(here, 'start'), { name: 'SetupProblem', message: /stopped answering/ })
})
