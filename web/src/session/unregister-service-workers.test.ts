import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unregisterForeignServiceWorkers } from '#/session/unregister-service-workers.ts'

/** What is left of two workers of a browser, in which Ann is signed in. */
async function leftAfter(boot: Parameters<typeof unregisterForeignServiceWorkers>[1]): Promise<string[]> {
  const left = new Set(['http://spawner.test/ann-dev/', 'http://spawner.test/bob-dev/'])
  const workers = [...left].map((scope) => ({ scope, unregister: async () => left.delete(scope) }))
  const serviceWorker = { getRegistrations: async () => workers }
  Object.defineProperty(navigator, 'serviceWorker', { value: serviceWorker, configurable: true })
  await unregisterForeignServiceWorkers('ann', boot)
  return [...left]
}

test('with path routing the front end keeps the workers of the signed-in user alone', async () => {
  assert.deepEqual(await leftAfter({ acting: null, hasContainerHosts: false }), ['http://spawner.test/ann-dev/'])
})

test('in a takeover it keeps none', async () => {
  const acting = { by: 'root@example.org', until: new Date().toISOString() }
  assert.deepEqual(await leftAfter({ acting, hasContainerHosts: false }), [])
})

test('where containers have hosts of their own it ends those of the time of path routing', async () => {
  assert.deepEqual(await leftAfter({ acting: null, hasContainerHosts: true }), [])
})
