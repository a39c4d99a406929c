import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readinessCheck } from './readiness-check.ts'

const answers = { ping: async () => undefined }

// `npm run chaos` found a service that called itself ready and refused every request for a container with 503.
test('a service whose gateway has no routes yet is not ready, and says so; it is as soon as they are published', async () => {
  const routes = { isPublished: false }
  const readiness = readinessCheck({ database: answers, runtime: answers, routes })
  assert.deepEqual(await readiness(), {
    isReady: false,
    store: 'ok',
    engine: 'ok',
    gateway: 'does not have the routes yet',
  })
  routes.isPublished = true
  assert.deepEqual(await readiness(), { isReady: true, store: 'ok', engine: 'ok', gateway: 'ok' })
})
