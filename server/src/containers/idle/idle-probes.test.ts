import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { Database } from '#/store/database.ts'
import type { Template } from '#/templates/template.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { Activity } from './activity.ts'
import { IdleProbes } from './idle-probes.ts'

// After a reload what the application had said went on to count, and a class was stopped under its open pages.
test('once its template is given without a probe, what an application has said counts no more, and traffic does', async (t) => {
  const app = createServer((_, response) => response.end('{"jobs": 0}')).listen(0, '127.0.0.1')
  await once(app, 'listening')
  t.after(() => app.close())
  const where = { containerId: 'c1', host: '127.0.0.1', port: (app.address() as AddressInfo).port, isPaused: false }
  const known = { userId: 1, type: 'dev', prefix: 'ann-dev', containerId: 'c1' } as ContainerState
  const template = { type: 'dev', stripPrefix: true, scheme: 'http' } as Template
  let idleProbe: Template['idleProbe'] = { path: 'state', active: '/jobs' }
  const activity = new Activity({} as Database)
  const probes = new IdleProbes({
    templates: { get: () => ({ ...template, idleProbe }) },
    routeSync: { routeOf: () => ({ where }) as never, isRunning: () => true },
    activity,
    hasOwnHost: false,
  })
  t.after(() => probes.stop())
  probes.askWhenDue(known)
  await pollUntil(
    () => activity.hasTold(known),
    () => 'the application is not asked',
  )
  activity.used(known, Date.now())
  assert.notEqual(activity.lastUseOf(known).why, 'traffic')
  idleProbe = null
  probes.askWhenDue(known)
  assert.equal(activity.hasTold(known), false)
  assert.equal(activity.lastUseOf(known).why, 'traffic')
})
